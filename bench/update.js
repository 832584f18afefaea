// Measures how long a publisher takes to update a value, in C, TypeScript and Python.
// Usage: update.js [millions of updates]; C needs cc, Python needs python3. Results are nanoseconds per update.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Publisher } from '../dist/native/publisher/publisher.js';

const MILLIONS = Number(process.argv[2] ?? 5);
const COUNT = MILLIONS * 1_000_000;
const BOUNDS = [0.001, 0.01, 0.1, 1];
const key = `update-${process.pid}`;

const C = `
#include "shm_publisher.h"
#define RUN(name, call) do { uint64_t start = shm_clock_ns(CLOCK_MONOTONIC); \\
  for (long i = 0; i < ${COUNT}; i++) call; \\
  printf("\\"%s\\":%.1f,", name, (double)(shm_clock_ns(CLOCK_MONOTONIC) - start) / ${COUNT}); } while (0)
int main(void) {
  static const double bounds[] = {${BOUNDS}};
  shm_options options = shm_options_default();
  options.server_key = "${key}-c";
  shm_publisher *p;
  shm_object root;
  shm_variable counter, gauge, latency;
  shm_variable_options o = shm_variable_options_default();
  if (shm_publisher_open(&p, &options) != 0) return 1;
  shm_add_root(p, &root, "localhost.1.update", "Update", NULL);
  shm_add_variable(&root, &counter, "counter", SHM_U64, &o);
  shm_add_variable(&root, &gauge, "gauge", SHM_F64, &o);
  o.schema = bounds;
  o.schema_entries = ${BOUNDS.length};
  shm_add_variable(&root, &latency, "latency", SHM_HISTOGRAM, &o);
  if (shm_publisher_publish(p) != 0) return 1;
  printf("{");
  RUN("counter", shm_u64_add(&counter, 1));
  RUN("gauge", shm_f64_set(&gauge, (double)i));
  RUN("histogram", shm_histogram_observe(&latency, 0.05));
  printf("\\"language\\":\\"C\\"}");
  shm_publisher_close(p);
  return 0;
}`;

const PYTHON = `
import json, sys, time
sys.path.insert(0, 'sdk/python')
import shm_publisher as shm
count = ${COUNT / 20}
p = shm.Publisher('${key}-python')
root = p.add_root('localhost.1.update', 'Update')
counter = p.add_variable(root, 'counter', shm.U64, value=0)
gauge = p.add_variable(root, 'gauge', shm.F64, value=0.0)
latency = p.add_variable(root, 'latency', shm.HISTOGRAM, schema=(${BOUNDS}))
p.publish()
def run(call, value):
    start = time.monotonic_ns()
    for _ in range(count):
        call(value)
    return round((time.monotonic_ns() - start) / count, 1)
print(json.dumps({'counter': run(counter.add, 1), 'gauge': run(gauge.set, 1.5), 'histogram': run(latency.observe, 0.05)}))
p.close()
`;

function inC(folder) {
  const program = join(folder, 'update');
  writeFileSync(`${program}.c`, C);
  execFileSync('cc', ['-O2', '-Isdk/c', '-o', program, `${program}.c`, '-lm']);
  return JSON.parse(execFileSync(program, { encoding: 'utf8' }));
}

function inTypeScript() {
  const publisher = new Publisher({ failIfBusy: true, serverKey: `${key}-ts` });
  const root = publisher.addRoot('localhost.1.update', 'Update');
  const counter = publisher.addVariable(root, 'counter', 'u64');
  const gauge = publisher.addVariable(root, 'gauge', 'f64');
  const latency = publisher.addVariable(root, 'latency', 'histogram', { schema: BOUNDS });
  publisher.place();
  const run = (update) => {
    const start = process.hrtime.bigint();
    for (let i = 0; i < COUNT; i++) update(i);
    return Number(process.hrtime.bigint() - start) / COUNT;
  };
  const result = {
    counter: run(() => counter.add(1)),
    gauge: run((i) => gauge.set(i)),
    histogram: run(() => latency.observe(0.05)),
  };
  publisher.close();
  return result;
}

const folder = mkdtempSync(join(tmpdir(), 'shm-update-'));
try {
  const rows = {
    C: inC(folder),
    TypeScript: inTypeScript(),
    Python: JSON.parse(execFileSync('python3', ['-c', PYTHON], { encoding: 'utf8' })),
  };
  for (const [language, { counter, gauge, histogram }] of Object.entries(rows))
    console.log(
      `${language.padEnd(10)} counter ${counter.toFixed(0)} ns, gauge ${gauge.toFixed(0)} ns, ` +
        `histogram ${histogram.toFixed(0)} ns`,
    );
} finally {
  rmSync(folder, { recursive: true });
}
