/** Where parameters from the service are kept between clients, such as a folder or IndexedDB. */
export interface ParametersCache {
  /** The octets with this lower-case hex SHA-256, or undefined. The client checks the digest again. */
  get(sha256: string): Promise<Uint8Array | undefined>;
  /** Keeps the octets. */
  put(sha256: string, octets: Uint8Array): Promise<void>;
}
