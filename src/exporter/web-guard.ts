// Makes the guard of the HTTP listener from a web configuration: TLS, passwords, rate limit and headers.
import { catchError, map, of, tap } from 'rxjs';
import { messageOf } from '../errors.js';
import type { Guard } from '../sinks/http/http-server.js';
import { textReply } from '../sinks/http/reply.js';
import type { Reply } from '../sinks/http/reply.js';
import type { GuardTls } from '../sinks/http/tls.js';
import { certificateOptions, certificateRefusal } from '../web-config/server-tls.js';
import { authenticatesClients } from '../web-config/web-config.js';
import { Passwords, tokenBucket } from '../web-config/passwords.js';
import type { PasswordVerdict } from '../web-config/passwords.js';
import type { Compare } from '../web-config/threads/compare-in-thread.js';
import type { WatchedWebConfig } from '../web-config/watched-web-config.js';
import type { RateLimit } from '../web-config/web-config-rule.js';

/**
 * Makes the guard of a listener.
 * @param warn called with the reason when passwords can no longer be checked
 */
export function webGuard(
  config: WatchedWebConfig,
  compare: Compare,
  nowMs: () => number,
  warn: (message: string) => void,
): Guard {
  const passwords = new Passwords(compare);
  const bucketOf = ({ interval, burst }: RateLimit) => tokenBucket(interval, burst, nowMs);
  let { rate } = config.current;
  let bucket = bucketOf(rate);
  let failure = '';
  const changed = (reason: string): void => {
    if (reason !== '' && reason !== failure)
      warn(`requests get 503 unless their password was checked before: ${reason}`);
    failure = reason;
  };
  return {
    tls: guardTls(config),
    authenticatesClients: () => authenticatesClients(config.current),
    headers: () => config.current.headers,
    refusal: ({ headers: { authorization } }) => {
      const { users, rate: nextRate } = config.current;
      if (nextRate.interval !== rate.interval || nextRate.burst !== rate.burst)
        bucket = bucketOf(nextRate);
      rate = nextRate;
      if (!bucket()) return of(TOO_MANY);
      if (users.size === 0) return of(undefined);
      return passwords.check(authorization, users).pipe(
        tap((verdict) => {
          if (verdict === 'admitted') changed('');
        }),
        map((verdict) => REFUSALS[verdict]),
        catchError((thrown: unknown) => {
          changed(messageOf(thrown));
          return of(NOT_COMPARED);
        }),
      );
    },
  };
}

const TOO_MANY = textReply(
  429,
  'too many requests: rate_limit in the web configuration sets the limit',
  {
    'Retry-After': '1',
  },
);

const NOT_COMPARED = textReply(503, 'passwords cannot be checked now: the log has the reason', {
  'Retry-After': '1',
});

const REFUSALS: Readonly<Record<PasswordVerdict, Reply | undefined>> = {
  admitted: undefined,
  refused: textReply(401, 'user name and password required', { 'WWW-Authenticate': 'Basic' }),
  busy: textReply(503, 'too many passwords to check at once', { 'Retry-After': '1' }),
};

function guardTls(config: WatchedWebConfig): GuardTls | undefined {
  const { tls } = config.current;
  if (tls === null) return undefined;
  const now = () => config.current.tls ?? tls;
  return {
    ...certificateOptions(tls),
    context: () => now().context,
    certificateRefusal: (socket) => certificateRefusal(socket, now()),
  };
}
