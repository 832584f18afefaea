// Warns of personal data that every machine around could read.
import type { Config } from '../config/resolve.js';
import { asksWho } from '../web-config/asks-who.js';
import type { WebConfig } from '../web-config/web-config.js';
import { isLocalAddress, listenAddresses } from './listen-addresses.js';
import type { Plan } from './plan.js';

/**
 * A sentence for each kind of personal data.
 * @param web undefined where there is no web configuration
 */
export function exposureWarnings(
  { settings, nameOf }: Pick<Config, 'settings' | 'nameOf'>,
  plan: Plan,
  web: WebConfig | undefined,
): readonly string[] {
  // Who may reach a socket of systemd is said elsewhere.
  if (!settings.metricsHttpEnabled || settings.metricsSystemdSocket) return [];
  if (web !== undefined && asksWho(web)) return [];
  const open = listenAddresses(settings, []).find(
    (address) => 'host' in address && !isLocalAddress(address),
  );
  if (open === undefined) return [];
  const personal = [...new Set(plan.flatMap(personalOf))];
  const uncatalogued = plan.filter(
    ({ catalogue, definition }) => catalogue !== undefined && definition.showsUncatalogued,
  );
  const apps = [...new Set(uncatalogued.map(({ definition }) => definition.app))];
  const served =
    `served to every machine that can connect; listen on 127.0.0.1 only, as ${nameOf(['metrics_listen_addresses'])} can say, ` +
    `ask for passwords by ${nameOf(['web_config_file'])}`;
  return [
    ...(personal.length === 0
      ? []
      : [`${personal.join(', ')}: personal data, ${served}, or leave its class out by classes`]),
    ...(apps.length === 0
      ? []
      : [
          `texts of ${apps.join(', ')} that no row reads (show_uncatalogued): perhaps personal data, ${served}`,
        ]),
  ];
}

/** Names of the metrics with personal data that a target can show. */
function personalOf({ catalogue, definition: { classes } }: Plan[number]): readonly string[] {
  const chosen = (catalogue?.classes ?? []).filter(
    ({ alias }) => classes.length === 0 || classes.includes(alias),
  );
  return chosen.flatMap(({ rows }) =>
    rows.filter(({ isPersonal }) => isPersonal).map(({ family }) => family.name),
  );
}
