// Why a file or directory of another program cannot be read, for operators.
import { Fault, messageOf } from '../errors.js';

/** Whether there is nothing of that name any more. */
export const isGone = (error: unknown): boolean => ['ENOENT', 'ESRCH'].includes(codeOf(error));

/** Whether somebody else may read it. */
export const isForbidden = (error: unknown): boolean => ['EACCES', 'EPERM'].includes(codeOf(error));

/** What follows the path. */
export function whyUnreadable(error: unknown): string {
  if (error instanceof Fault) return error.message;
  if (isForbidden(error)) return 'may not be read by this user';
  if (codeOf(error) === 'ELOOP') return 'is a link';
  return `cannot be read: ${messageOf(error)}`;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';
