// Whether a web configuration lets in only those who show who they are.
import type { WebConfig } from './web-config.js';

export const asksWho = ({ tls, users }: Pick<WebConfig, 'tls' | 'users'>): boolean =>
  users.size > 0 || tls?.clientAuth === 'RequireAndVerifyClientCert';
