/** Who signs the certificates of servers that speak TLS. */

/** Who has signed the servers' certificates. */
export interface TrustedAuthority {
  /** Its certificate, PEM. */
  ca: string;
  /** A file with that, where the client runs; absent: not written yet. */
  caFile?: string;
}

/** A certification authority of one run. */
export interface Authority {
  /** Its certificate, PEM. */
  readonly ca: string;
  /** A key and a certificate for whoever is reached at these addresses, of which there is at least one. */
  issue(addresses: readonly string[]): Certificate;
}

/** Both PEM. */
export interface Certificate {
  cert: string;
  key: string;
}
