// Tests the warnings about labels that the scraper also sets: they name the place and a remedy.
import { expect } from 'chai';
import { loadConfig } from '#app/config/resolve.js';
import { labelWarnings } from '#app/exporter/label-warnings.js';
import { planTargets } from '#app/exporter/plan.js';
import { faultMessage } from '../support/fault-message.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const HONOR =
  'is also a label of targets under the Prometheus Operator; set honor_labels: true in the scrape job, or rename the label';
const OF_TARGET = 'is also a label that /-/targets gives each target; rename it';

describe('the check of labels', () => {
  const folder = temporaryFolder();
  const planned = (toml: string) => {
    const config = loadConfig({ configFile: folder.write('c.toml', toml), overrides: {} });
    return labelWarnings(config, planTargets(config)).map((line) => folder.bare(line));
  };
  const ofPathLabel = (label: string) =>
    planned(`app = "mine"\npath_labels = ["{${label}}.x"]\n`).map((line) =>
      line.replace('c.toml:2:16: path_labels[0]: ', ''),
    );

  const rows = [
    ...['namespace', 'pod', 'container', 'endpoint', 'service', 'node'].map((each) => [
      each,
      HONOR,
    ]),
    ...['app', 'server_key', 'root', 'hint', 'twin'].map((each) => [each, OF_TARGET]),
    ['cluster', 'is often an external label of the Prometheus server; rename it'],
    ['prometheus', 'is often an external label of the Prometheus server; rename it'],
    ['severity', 'is also a label of alerts; the label of an alert replaces it; rename it'],
    [
      'exported_service',
      'begins with exported_, the prefix that Prometheus gives to labels that clash; rename it',
    ],
  ] as const;
  for (const [label, sentence] of rows)
    it(`warns of the path label ${label}`, () =>
      expect(ofPathLabel(label)).to.deep.equal([`the label "${label}" ${sentence}`]));

  for (const label of ['till', 'services', 'server', 'state', 'file'])
    it(`accepts the path label ${label}`, () => expect(ofPathLabel(label)).to.deep.equal([]));

  for (const label of ['job', 'instance', 'le', 'quantile', '__name__'])
    it(`refuses the path label ${label}`, () =>
      expect(faultMessage('CONFIG_INVALID', () => ofPathLabel(label))).to.include(
        `c.toml:2:16: path_labels[0]: "${label}" is `,
      ));

  it('names each label of a catalogue file once, with its position', () => {
    folder.write(
      'own.toml',
      `app = "shop"
[[classes]]
alias = "till"
class_ids = ["Till"]
paths = ["floor.{service}", "roof.{service}"]
metrics = [
  { var = "a", name = "shop_a", type = "gauge", help = "A." },
  { var = "b", name = "shop_b", type = "gauge", help = "B.", static = { pod = "x" } },
  { var = "c", name = "shop_c", type = "gauge", help = "C.", static = { pod = "x" } },
  { var = "d_{node}", name = "shop_d", type = "gauge", help = "D." },
  { name = "shop_e_info", type = "info", help = "E.", labels_from = { app = "e" } },
]
`,
    );
    expect(planned('app = "shop"\ncatalogue_files = ["own.toml"]\n')).to.deep.equal([
      `own.toml:5:10: classes[0].paths[0]: the label "service" ${HONOR}`,
      `own.toml:8:3: classes[0].metrics[1]: the label "pod" ${HONOR}`,
      `own.toml:10:3: classes[0].metrics[3]: the label "node" ${HONOR}`,
      `own.toml:11:3: classes[0].metrics[4]: the label "app" ${OF_TARGET}`,
    ]);
  });

  it('accepts the labels of the built-in catalogues', () =>
    expect(
      planned(
        ['adh', 'ats']
          .map((app, at) => `[[targets]]\napp = "${app}"\nserver_key = "${at}"\n`)
          .join(''),
      ),
    ).to.deep.equal([]));
});
