// The order of metrics on the dashboards of the built-in applications.

/** A panel that shows a ratio of catalogue metrics. */
export interface Share {
  readonly title: string;
  readonly description: string;
  /** `$selector` stands for the matchers of the selected targets. */
  readonly expr: string;
  readonly legend: string;
}

export interface AppLayout {
  /** The name of the application in titles. */
  readonly name: string;
  /** The panels of each expanded section, by its title. The most important section comes first. */
  readonly first: Readonly<Record<string, readonly (string | Share)[]>>;
  /** The titles of the collapsed sections, by class; one for each class with metrics. */
  readonly classes: Readonly<Record<string, string>>;
  /** Classes with so many objects that their panels show only the highest values. */
  readonly many: readonly string[];
  /** Labels that the segment format adds to all series, besides the labels of the catalogue. */
  readonly formatLabels?: readonly string[];
}

export const APP_LAYOUTS: Readonly<Record<string, AppLayout>> = {
  ads: {
    name: 'ADS',
    first: {
      Clients: [
        'ads_mounts_num_clients',
        'ads_mounts_used_ratio',
        'ads_mounts_active_users',
        'ads_server_num_clients',
        'ads_server_disconnects_total',
        'ads_server_mount_rejections_total',
      ],
      Throughput: [
        'ads_fanout_messages_total',
        'ads_server_sent_bytes_total',
        'ads_fanout_update_latency_seconds',
        'ads_requests_messages_total',
        'ads_source_service_received_messages_total',
        'ads_streams_conflated_updates_total',
      ],
      'Services and items': ['ads_service_state', 'ads_streams_items', 'ads_service_items'],
      'Queues and buffers': [
        'ads_server_buffer_pool',
        'ads_source_server_backlog',
        'ads_client_buffer_ratio',
        'ads_shm_server_partition_used_bytes',
        'ads_session_thread_num_clients',
        'ads_source_server_load',
      ],
      'Errors and losses': [
        'ads_server_errors_total',
        'ads_server_overflows_total',
        'ads_streams_closes_total',
        'ads_source_service_request_timeouts_total',
        'ads_multicast_lost_packets_total',
        'ads_parser_errors_total',
      ],
    },
    classes: {
      process: 'Process',
      mounts: 'Logins',
      server: 'Listeners',
      client: 'Connections',
      mount: 'Mounts',
      user: 'Users',
      streams: 'Item streams',
      fanout: 'Messages to clients',
      requests: 'Messages from clients',
      service: 'Services',
      cache: 'Cache',
      source_service: 'Services of sources',
      source_server: 'Source servers',
      parser: 'Parser',
      multicast: 'Backbone',
      session_thread: 'Writer threads',
      shm_server: 'Managed objects',
      license: 'Product licence',
    },
    many: ['client', 'mount', 'user'],
  },
  adh: {
    name: 'ADH',
    first: {
      'Sources and clients': [
        'adh_route_active_sessions',
        'adh_source_channel_active',
        'adh_service_servers',
        'adh_server_num_clients',
        'adh_service_num_clients',
        'adh_source_pool_disconnects_total',
      ],
      Throughput: [
        'adh_source_pool_received_messages_total',
        'adh_distribution_sent_messages_total',
        'adh_source_channel_bytes_total',
        'adh_distribution_update_latency_seconds',
        'adh_source_channel_round_trip_seconds',
        'adh_multicast_bytes_total',
      ],
      'Services and items': [
        'adh_service_state',
        'adh_service_items',
        'adh_distribution_watched_items',
      ],
      'Queues and buffers': [
        'adh_source_channel_buffer_ratio',
        'adh_source_server_cache_used_ratio',
        'adh_failover_flow_stopped',
        'adh_shm_server_partition_used_bytes',
        'adh_source_server_load',
        'adh_source_mount_in_overflow',
      ],
      'Errors and losses': [
        'adh_source_channel_faults_total',
        'adh_source_server_sequence_anomalies_total',
        'adh_source_pool_mounts_rejected_total',
        'adh_source_pool_overflows_total',
        'adh_source_server_request_timeouts_total',
        'adh_multicast_message_gaps_total',
      ],
    },
    classes: {
      process: 'Process',
      source_pool: 'All source applications',
      route: 'Routes',
      source_mount: 'Source applications',
      source_channel: 'Source channels',
      service: 'Services',
      source_server: 'Source servers',
      distribution: 'Distribution',
      server: 'Listeners',
      failover: 'Failover',
      multicast: 'Backbone',
      transport_thread: 'Transport threads',
      shm_server: 'Managed objects',
      license: 'Product licence',
    },
    many: ['source_mount'],
  },
  ats: {
    name: 'ATS',
    first: {
      'Resiliency and clients': [
        'ats_resiliency_role',
        'ats_resiliency_peer_connected',
        'ats_resiliency_peer_lag_seconds',
        'ats_server_num_clients',
        'ats_contribution_num_clients',
        'ats_server_disconnects_total',
      ],
      Throughput: [
        'ats_engine_calculations_total',
        'ats_contribution_posts_total',
        'ats_publication_sent_messages_total',
        'ats_engine_calculation_seconds',
        'ats_contribution_post_latency_seconds',
        'ats_subscription_received_updates_total',
      ],
      'Services, records and memory': [
        'ats_subscription_state',
        'ats_subscription_connected',
        'ats_subscription_items',
        'ats_cache_records',
        'ats_cache_stale_records',
        'ats_shm_server_partition_used_bytes',
      ],
      'Queues and buffers': [
        'ats_engine_queue_depth',
        'ats_contribution_queue_depth',
        'ats_thread_queue_depth',
        'ats_engine_busy_ratio',
        'ats_thread_busy_seconds_total',
        'ats_client_buffer_ratio',
      ],
      'Errors and losses': [
        'ats_engine_models_in_error',
        'ats_engine_calculation_errors_total',
        'ats_contribution_rejections_total',
        'ats_server_overflows_total',
        'ats_publication_overflows_total',
        'ats_subscription_request_timeouts_total',
      ],
    },
    classes: {
      process: 'Process',
      resiliency: 'Resiliency',
      server: 'Listeners',
      client: 'Connections',
      contribution: 'Contributions',
      engine: 'Engine',
      model: 'Models',
      cache: 'Cache',
      container: 'Containers',
      subscription: 'Subscriptions',
      publication: 'Publications',
      thread: 'Threads',
      shm_server: 'Managed objects',
    },
    many: ['client', 'model'],
  },
  jvm: {
    name: 'JVMs',
    first: {
      'Garbage collection': [
        {
          title: 'Share of time in collections (highest 10)',
          description:
            'Time for which each collector paused its JVM, divided by the elapsed time. Above 0.1, the heap is too small, or the application leaks memory. (jvm_gc_collection_seconds)',
          expr: 'topk(10, rate(jvm_gc_collection_seconds_sum{$selector}[$__rate_interval]))',
          legend: '{{root}} {{pid}} {{gc}} {{main_class}}',
        },
        {
          title: 'Share of each pool that is used after a collection (highest 10)',
          description:
            'Used bytes divided by the maximum of the pool; with G1, every pool may take the whole heap. (jvm_memory_pool_collection_used_bytes, jvm_memory_pool_max_bytes)',
          expr: 'topk(10, jvm_memory_pool_collection_used_bytes{$selector} / (jvm_memory_pool_max_bytes{$selector} > 0))',
          legend: '{{root}} {{pid}} {{pool}} {{main_class}}',
        },
        'jvm_gc_collection_seconds',
        'jvm_memory_pool_collection_used_bytes',
        'jvm_safepoint_seconds_total',
      ],
      'JVMs and threads': ['jvm_processes', 'jvm_processes_left_out', 'jvm_threads_current'],
      'Code and locks': [
        'jvm_compilation_time_seconds_total',
        'jvm_classes_loaded_total',
        'jvm_monitor_contended_attempts_total',
      ],
    },
    classes: {
      host: 'Host',
      jvm: 'JVMs',
      gc: 'Collectors',
      pool: 'Memory pools',
      generation: 'Generations',
    },
    many: ['jvm', 'gc', 'pool', 'generation'],
    formatLabels: ['main_class'],
  },
};
