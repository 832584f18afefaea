// The file with the code of partition threads that the exporter runs. A thread that loads the modules of dist one by
// one takes four times the processor time to start.
export const BUNDLED_THREAD = new URL('../../dist/bin/thread.js', import.meta.url);
