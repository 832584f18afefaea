// Tests the search for the native packages in the memory of a process.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { Fault } from '#app/errors.js';
import '#app/native/os/libc.js';
import { loadedPackages } from '#app/native/os/loaded-packages.js';

const line = (file: string) => `7f0000000000-7f0000001000 r-xp 00000000 08:01 1234    ${file}`;
const FFI = '/app/node_modules/ffi-napi/build/Release/ffi_bindings.node';
const REF = '/app/node_modules/ref-napi/build/Release/binding.node';

describe('The native packages in memory', () => {
  it('are found in this process', () => {
    const found = loadedPackages(readFileSync('/proc/self/maps', 'utf8'));
    for (const name of ['ffi-napi', 'ref-napi']) expect(found.join()).to.include(`/${name}/`);
  });

  for (const [where, files] of [
    ['in the source tree', [FFI, REF]],
    ['in the npm package', ['/a/dist/prebuilds/linux-x64/ffi-napi.node', '/a/ref-napi.node']],
    ['in a folder with a blank', [`/my app${FFI}`, `/my app${REF}`]],
  ] as const)
    it(`are each found once if their files are ${where}`, () => {
      const others = ['[heap]', '/usr/lib/libc.so.6', '/app/node_modules/other/other.node'];
      const maps = [...files, ...files, ...others].map(line).join('\n');
      expect(loadedPackages(maps)).to.deep.equal(files);
    });

  it('cause an error if one of them is missing, because the program would crash at the end of a thread', () => {
    for (const missing of ['ffi-napi', 'ref-napi'])
      expect(() =>
        loadedPackages(
          [FFI, REF, '/app/a1b2.node'].filter((file) => !file.includes(missing)).join('\n'),
        ),
      ).to.throw(
        Fault,
        `No file of ${missing} is in /proc/self/maps: exclude shm-exporter from bundles`,
      );
  });
});
