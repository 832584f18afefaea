// Where an installation keeps the public keys of its own licenses: upgrades leave it alone.

/** The default of `license_keys_dir` and of `shm_license verify --keys-dir`. */
export const LICENSE_KEYS_DIR = '/etc/shm_exporter/keys';
