// Real segments with names that only this test process uses; tests leave none in /dev/shm.
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { pid } from 'node:process';
import { segmentName } from '#app/native/segment/layout.js';
import { posixMemory } from '#app/native/os/posix.js';
import { Publisher } from '#app/native/publisher/publisher.js';
import { SHM_FOLDER } from '#app/native/os/shared-memory.js';
import type { PublisherOptions } from '#app/native/publisher/publisher-options.js';
import { uniqueName } from './test-run.js';
import { SegmentPoller } from '#app/native/segment/segment-poller.js';

type Options = Omit<PublisherOptions, 'serverKey' | 'contextId' | 'pid' | 'realtimeNs'>;

/** A small capacity, so that the directories of a segment alternate often. */
export const TINY = { records: 64, stringBytes: 4096, slots: 64, frameBytes: 4096 };

export class Segments {
  readonly contextId = uniqueName();
  readonly #publishers: Publisher[] = [];
  readonly #pollers: SegmentPoller[] = [];

  name = (serverKey: string): string => segmentName(this.contextId, 'pool', serverKey);

  path = (serverKey: string): string => `${SHM_FOLDER}/${this.name(serverKey)}`;

  /** Reads the segment's file. */
  bytes = (serverKey: string): Buffer => readFileSync(this.path(serverKey));

  /** A publisher whose segment has no name yet. */
  publisher(serverKey: string, options: Options = {}): Publisher {
    const own = { contextId: this.contextId, pid, realtimeNs: () => 1_700_000_000_000_000_000n };
    const publisher = new Publisher({
      capacity: TINY,
      failIfBusy: true,
      ...options,
      ...own,
      serverKey,
    });
    this.#publishers.push(publisher);
    return publisher;
  }

  publish(serverKey: string, options: Options = {}): Publisher {
    const publisher = this.publisher(serverKey, options);
    publisher.place();
    return publisher;
  }

  poller(serverKey: string, nowNs?: () => bigint): SegmentPoller {
    const poller = new SegmentPoller(
      posixMemory(),
      this.name(serverKey),
      serverKey,
      nowNs && { nowNs },
    );
    this.#pollers.push(poller);
    return poller;
  }

  /** The names of these segments' files in /dev/shm, including temporary files. */
  files = (): string[] => readdirSync(SHM_FOLDER).filter((file) => file.includes(this.contextId));

  clear(): void {
    for (const poller of this.#pollers.splice(0)) poller.close();
    for (const publisher of this.#publishers.splice(0)) publisher.close();
    for (const file of this.files()) rmSync(`${SHM_FOLDER}/${file}`, { recursive: true });
  }
}

/** Call inside `describe`: removes all segments after each test. */
export function freshSegments(): Segments {
  const segments = new Segments();
  afterEach(() => segments.clear());
  return segments;
}
