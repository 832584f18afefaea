// The page at `/`: what this process exports, for people.
import type { Target } from '../model.js';

const escape = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

export function statusPage(
  targets: readonly Target[],
  { path, version }: { readonly path: string; readonly version: string },
): string {
  const rows = targets.map((target) => {
    const { app, serverKey, root, isReady, progress, publisher } = target.status();
    const { objects, variables, reason } = progress;
    const query = targets.length > 1 ? `?server_key=${encodeURIComponent(serverKey)}` : '';
    const cells = [
      `<a href="${escape(path + query)}">${escape(app)}</a>`,
      escape(serverKey),
      escape(root),
      isReady ? 'ready' : `waiting on ${escape(reason)}`,
      `${objects.synced}/${objects.total}`,
      `${variables.synced}/${variables.total}`,
      escape(isReady ? publisher.reason : publisher.state),
    ];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  const heads = ['app', 'server key', 'root', 'state', 'objects', 'variables', 'publisher'];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>shm_exporter</title>
<style>body{font:16px/1.5 sans-serif;margin:2em}td,th{padding:.2em 1em .2em 0;text-align:left}</style></head>
<body><h1>shm_exporter ${escape(version)}</h1>
<table><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr>
${rows.join('\n')}
</table>
<p><a href="/-/metrics">metrics of this process</a> · <a href="/-/healthy">health</a> · <a href="/-/ready">readiness</a></p>
</body></html>
`;
}
