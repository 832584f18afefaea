// Content negotiation: the format for an Accept header.
import { expect } from 'chai';
import { OPEN_METRICS } from '#app/exposition/page/open-metrics.js';
import { PROTOBUF } from '#app/exposition/page/protobuf.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import { chooseFormat, prefersGzip } from '#app/sinks/http/choose-format.js';

const FORMATS = { text: TEXT, openmetrics: OPEN_METRICS, protobuf: PROTOBUF };

const DELIMITED =
  'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited';
/** Prometheus 3.5.3; 3.14 sends the same. */
const PROMETHEUS_3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';
/** Prometheus 3.5.3 with the feature `created-timestamp-zero-ingestion`, and 3.14 with `scrape_native_histograms`. */
const PROMETHEUS_3_PROTOBUF = `${DELIMITED};q=0.6,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1`;
const PROMETHEUS_2_53_PROTOBUF = `${DELIMITED};q=0.5,application/openmetrics-text;version=1.0.0;q=0.4,application/openmetrics-text;version=0.0.1;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1`;

describe('the response format that the Accept header selects', () => {
  const table: readonly (readonly [string, string | undefined, keyof typeof FORMATS])[] = [
    ['a missing header', undefined, 'text'],
    ['an empty header', '', 'text'],
    ['curl', '*/*', 'text'],
    ['a browser', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text'],
    [
      'Prometheus 2 before 2.49, and the Datadog agent from 7.46 on',
      'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      'openmetrics',
    ],
    [
      'Prometheus 2.53',
      'application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
      'openmetrics',
    ],
    ['Prometheus 2.53 with the feature native-histograms', PROMETHEUS_2_53_PROTOBUF, 'protobuf'],
    ['Prometheus 3 and the OpenTelemetry collector', PROMETHEUS_3, 'openmetrics'],
    [
      'Prometheus 3 with escaping=underscores',
      'application/openmetrics-text;version=1.0.0;escaping=underscores;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=underscores;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
      'openmetrics',
    ],
    [
      'Prometheus 3 and the OpenTelemetry collector that prefer protobuf',
      PROMETHEUS_3_PROTOBUF,
      'protobuf',
    ],
    ['Prometheus 3 that takes protobuf alone', `${DELIMITED};q=0.5,*/*;q=0.4`, 'protobuf'],
    ['Telegraf', `${DELIMITED};q=0.7,text/plain;version=0.0.4;q=0.3,*/*;q=0.1`, 'protobuf'],
    ['the Datadog agent before 7.46', 'text/plain', 'text'],
    ['vmagent', 'text/plain;version=0.0.4;q=1,*/*;q=0.1', 'text'],
    [
      'a client that gives protobuf and OpenMetrics the same quality',
      'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.5,application/openmetrics-text;q=0.5,text/plain;q=0.1',
      'protobuf',
    ],
    [
      'a client that gives protobuf a lower quality than OpenMetrics',
      'application/openmetrics-text,application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.9,text/plain;q=0.1',
      'openmetrics',
    ],
    [
      'a client that prefers protobuf, without parameters, and refuses text',
      'application/vnd.google.protobuf,application/openmetrics-text;q=0.5,text/plain;q=0',
      'protobuf',
    ],
    [
      'a client that prefers protobuf as text to OpenMetrics',
      'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=compact-text,application/openmetrics-text;q=0.5,*/*;q=0.1',
      'text',
    ],
    [
      'a client that prefers another message of protobuf to OpenMetrics',
      'application/vnd.google.protobuf;proto=io.prometheus.write.v2.Request;encoding=delimited,application/openmetrics-text;q=0.5,*/*;q=0.1',
      'text',
    ],
    [
      'a client that takes any type except text and OpenMetrics, and does not name protobuf',
      '*/*,text/plain;q=0,application/openmetrics-text;q=0',
      'text',
    ],
    [
      'a client that refuses protobuf',
      'application/vnd.google.protobuf;q=0,application/openmetrics-text',
      'openmetrics',
    ],
    [
      'Prometheus 3 that prefers text',
      'text/plain;version=0.0.4;q=0.5,application/openmetrics-text;version=1.0.0;q=0.4,*/*;q=0.1',
      'text',
    ],
    [
      'an old Prometheus with OpenMetrics 0.0.1',
      'application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      'text',
    ],
    [
      'a client that names OpenMetrics without a version',
      'application/openmetrics-text',
      'openmetrics',
    ],
    [
      'a client that names an unknown version of OpenMetrics',
      'application/openmetrics-text; version=2.0.0',
      'text',
    ],
    [
      'a client that quotes the version of OpenMetrics',
      'application/openmetrics-text; version="1.0.0"',
      'openmetrics',
    ],
    [
      'a client that writes OpenMetrics in mixed case',
      'Application/OpenMetrics-Text; Version=1.0.0; Q=0.9, */*;q=0.1',
      'openmetrics',
    ],
    ['the wildcard application/*', 'application/*', 'openmetrics'],
    ['equal qualities of text and OpenMetrics', 'application/openmetrics-text,text/plain', 'text'],
    [
      'a client that gives text a lower quality than the wildcard */* after it',
      'text/plain;q=0.2,*/*;q=0.9',
      'openmetrics',
    ],
    [
      'a client that gives text a lower quality than the wildcard */* before it',
      '*/*;q=0.9,text/plain;q=0.2',
      'openmetrics',
    ],
    [
      'a client that refuses OpenMetrics after the wildcard application/*',
      'application/*,application/openmetrics-text;q=0,text/*',
      'text',
    ],
    ['a client that gives text/* a lower quality than */*', '*/*,text/*;q=0.1', 'openmetrics'],
    [
      'a client that gives text 0.0.4 a lower quality than any other text',
      'text/plain;version=0.0.4;q=0.1,text/plain,*/*;q=0.5',
      'openmetrics',
    ],
    ['a repeated wildcard with different qualities', 'text/*;q=0.9,text/*;q=0.1,*/*;q=0.5', 'text'],
    ['a client that refuses text', 'text/plain;q=0,*/*', 'openmetrics'],
    ['a client that refuses OpenMetrics', 'application/openmetrics-text;q=0,*/*;q=0.1', 'text'],
    ['a client that refuses all', '*/*;q=0', 'text'],
    ['an invalid quality', 'application/openmetrics-text;q=x', 'text'],
    ['a quality out of range', 'application/openmetrics-text;q=7,text/plain;q=0.1', 'text'],
    ['an unsupported type', 'application/json', 'text'],
    ['an invalid header', ';;,=,/;q', 'text'],
  ];
  for (const [sentence, accept, wanted] of table)
    it(`is ${wanted} for ${sentence}`, () =>
      expect(chooseFormat([TEXT, OPEN_METRICS, PROTOBUF], accept)).to.equal(FORMATS[wanted]));

  for (const accept of [PROMETHEUS_3_PROTOBUF, PROMETHEUS_2_53_PROTOBUF])
    it('is text if a client prefers protobuf to OpenMetrics, and the page has no protobuf', () =>
      expect(chooseFormat([TEXT, OPEN_METRICS], accept)).to.equal(TEXT));
});

// Which clients get gzip, by their Accept-Encoding header (RFC 9110, 12.5.3).
describe('the response encoding that the Accept-Encoding header selects', () => {
  const table: readonly (readonly [string, string | undefined, boolean])[] = [
    ['a missing header', undefined, false],
    ['an empty header', '', false],
    ['Prometheus', 'gzip', true],
    ['curl --compressed', 'deflate, gzip, br, zstd', true],
    ['a browser', 'gzip, deflate, br;q=1.0', true],
    ['the old name x-gzip', 'x-gzip', true],
    ['a client that writes gzip in mixed case with blanks', ' GZip ; Q=0.5 ', true],
    ['the wildcard *', '*', true],
    ['the wildcard * with a low quality', '*;q=0.001', true],
    ['a client that accepts only identity', 'identity', false],
    ['a client that accepts only other encodings', 'br, deflate', false],
    ['a client that refuses gzip', 'gzip;q=0', false],
    ['a client that refuses gzip with quality 0.000', 'gzip;q=0.000', false],
    ['a client that refuses gzip and accepts the wildcard *', 'gzip;q=0, *', false],
    ['a client that refuses all', '*;q=0', false],
    ['a client that refuses all but gzip', '*;q=0, gzip', true],
    ['a client that refuses identity', 'identity;q=0, gzip;q=0.1', true],
    ['a client that refuses identity and names no encoding', 'identity;q=0', false],
    ['a client that refuses gzip and identity', 'identity;q=0, gzip;q=0', false],
    ['a client that prefers identity', 'identity, gzip;q=0.5', false],
    ['a client that prefers gzip', 'identity;q=0.5, gzip', true],
    ['equal qualities of gzip and identity', 'identity, gzip', true],
    ['a client that prefers the wildcard * to gzip', 'gzip;q=0.1, *;q=0.5', false],
    ['a client that refuses gzip and accepts x-gzip', 'gzip;q=0, x-gzip;q=0.5', true],
    ['an invalid quality', 'gzip;q=x', false],
    ['a quality out of range', 'gzip;q=7', false],
    ['the unknown name gzipped', 'gzipped', false],
    ['an invalid header', ';;,=,/;q', false],
  ];
  for (const [sentence, header, wanted] of table)
    it(`is ${wanted ? 'gzip' : 'identity'} for ${sentence}`, () =>
      expect(prefersGzip(header)).to.equal(wanted));
});
