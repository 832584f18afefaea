// The labels that prometheus_varnish_exporter makes of the ident of a backend.

const SERVER_ID =
  /(?<server>[0-9a-z]{8}-[0-9a-z]{4}-[0-9a-z]{4}-[89ab][0-9a-z]{3}-[0-9a-z]{12})(?<backend>.*)$/;
const ADDRESS = /^(?<backend>.*)\((?<server>.*)\)/;

/**
 * Backend and server of an ident in small letters, such as `boot.origin`, without the VCL program where
 * its name says that it is the present one: so a backend keeps its series over a reload.
 */
export function backendLabels(ident: string): Record<string, string> {
  const { backend, server } = (SERVER_ID.exec(ident) ?? ADDRESS.exec(ident))?.groups ?? {};
  if (backend === undefined || server === undefined)
    return { backend: withoutProgram(ident), server: 'unknown' };
  return { backend: withoutProgram(backend), server: server.replace(',,', ':') };
}

const withoutProgram = (name: string): string =>
  name
    .replace(/^\.+|\.+$/g, '')
    .replace(/^boot\./, '')
    .replace(/^root:/, '')
    .replace(/^reload_[^.]*\./, '');
