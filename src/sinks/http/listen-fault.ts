// Why a listener cannot be used, and how to find out who has its port.
import { Fault } from '../../errors.js';
import { shownAddress } from './listen-address.js';
import type { ListenAddress } from './listen-address.js';

/** Fault LISTENER_FAILED for the error of a server that listens at `address`. */
export function listenFault(address: ListenAddress, error: Error): Fault {
  const isTaken = 'code' in error && error.code === 'EADDRINUSE' && 'port' in address;
  const way = isTaken ? `; "ss -ltnp 'sport = :${address.port}'" shows who has it` : '';
  const what = `Cannot listen on ${shownAddress(address)}: ${error.message}${way}`;
  return new Fault('LISTENER_FAILED', what, { cause: error });
}
