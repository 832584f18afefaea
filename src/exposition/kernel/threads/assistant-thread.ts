// The thread of an assistant: does the jobs on its desk, with an instance of each kernel that posts some.
import { readlinkSync } from 'node:fs';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import type { KernelParts } from '../kernel.js';
import { secondInstance } from '../second-instance.js';
import type { SecondInstance } from '../second-instance.js';
import type { AssistantSetup } from './assistant.js';
import { Desk } from './desk.js';

/** The number of the thread that the system gave it; 0 where the system does not tell. */
function threadNumber(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').replace(/^.*\//, ''));
  } catch {
    return 0;
  }
}

/** The instances by the numbers of their kernels: it is told of a kernel before there are jobs of it. */
function instances(port: MessagePort): (number: number) => SecondInstance {
  const all: SecondInstance[] = [];
  const next = (): SecondInstance => {
    const received: { message: KernelParts } | undefined = receiveMessageOnPort(port);
    if (received === undefined) throw new Error('There are jobs of a kernel that nobody told of');
    return secondInstance(received.message);
  };
  return (number) => {
    while (all.length <= number) all.push(next());
    return all[number] ?? next();
  };
}

function work(port: MessagePort): never {
  const desk = new Desk((workerData as AssistantSetup).words);
  const instance = instances(port);
  port.postMessage(threadNumber());
  for (let wakes = desk.sleep(0); ; wakes = desk.sleep(wakes))
    for (let job = desk.take(); job !== undefined; job = desk.take()) {
      // Only now: as long as a job is not done, no other kernel posts one.
      const { run, written } = instance(desk.kernel);
      job.carryOut(run, written);
      job.tell();
    }
}

if (parentPort !== null) work(parentPort);
