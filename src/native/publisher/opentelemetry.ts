// The entry `opentelemetry` of the npm package: a reader that publishes the metrics of an OpenTelemetry SDK.
import { diag } from '@opentelemetry/api';
import { AggregationTemporality, MetricReader } from '@opentelemetry/sdk-metrics';
import { RegistryCopy } from './library.js';
import type { RegistryOptions } from './library.js';
import { registryMetrics } from './opentelemetry-metrics.js';
import type { NameOptions } from './opentelemetry-metrics.js';

export interface ShmMetricReaderOptions extends RegistryOptions, NameOptions {}

/**
 * Publishes all metrics of a `MeterProvider` as cumulative values, and updates them at an interval. Names and labels
 * are those of OpenTelemetry's exporter for Prometheus.
 */
export class ShmMetricReader extends MetricReader {
  readonly #copy: RegistryCopy;

  /**
   * @throws RangeError for an option that is unknown, invalid or missing
   * @throws Fault as the constructor of `Publisher` does
   */
  constructor(options: ShmMetricReaderOptions) {
    const { prefix, unitSuffixes, withoutScopeInfo, withoutTargetInfo, ...rest } = options;
    const { withResourceConstantLabels, ...own } = rest;
    const names = {
      ...{ prefix, unitSuffixes, withoutScopeInfo, withoutTargetInfo },
      withResourceConstantLabels,
    };
    super({ aggregationTemporalitySelector: () => AggregationTemporality.CUMULATIVE });
    const getMetricsAsJSON = async () => {
      const { resourceMetrics, errors } = await this.collect();
      for (const error of errors)
        diag.error('ShmMetricReader: a metric cannot be collected', error);
      return registryMetrics(resourceMetrics, names);
    };
    this.#copy = new RegistryCopy('ShmMetricReader', { getMetricsAsJSON }, own);
  }

  protected override onInitialized(): void {
    this.#copy.start().catch((error: unknown) => {
      diag.error('ShmMetricReader: the metrics are not published', error);
    });
  }

  protected override onForceFlush(): Promise<void> {
    return this.#copy.update();
  }

  protected override onShutdown(): Promise<void> {
    this.#copy.close();
    return Promise.resolve();
  }
}
