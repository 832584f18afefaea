// Lets mocha's workers send errors with a BigInt to the main process, which prints them. Node.js sends messages as
// JSON, which has no BigInt. Without this file, mocha loses the name and the error of a test that fails with a
// BigInt.
if (process.send !== undefined) {
  const send = process.send.bind(process);
  const plain = (_key, value) => (typeof value === 'bigint' ? `${value}n` : value);
  process.send = (message, ...rest) => send(JSON.parse(JSON.stringify(message, plain)), ...rest);
}
