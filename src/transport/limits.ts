/** The limits of a server. Byte limits apply before and after decompression. */
export interface Limits {
  /** The largest request message. */
  readonly bodyBytes: number;
  /** The total size of the request headers. */
  readonly headerBytes: number;
  /** From the start of a connection to the bytes that identify its protocol. */
  readonly firstByteTimeoutMs: number;
  /** HTTP/1.1: from the first byte of a request to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** From the request headers to the end of the body. */
  readonly bodyTimeoutMs: number;
  /** A caller that reads nothing of a reply for this long counts as gone. */
  readonly writeTimeoutMs: number;
  /** The unread reply bytes that the callers of one address may accumulate, in addition to those in transit. */
  readonly unreadBytesPerAddress: number;
  /** Closes a connection without requests after this time. */
  readonly idleTimeoutMs: number;
  /** The time that a refused request may keep sending its body before its connection is cut. */
  readonly lingerTimeoutMs: number;
  /** The deadline of unary calls without one. Streams have no default. */
  readonly defaultDeadlineMs: number;
  /** The longest deadline. Longer ones are shortened to it. */
  readonly maxDeadlineMs: number;
  /** The maximum number of concurrent calls on one HTTP/2 connection. */
  readonly streamsPerConnectionCount: number;
  /** The maximum number of concurrent connections of any protocol; 0 for no limit. */
  readonly connectionsCount: number;
  /** The same maximum for one address, or one IPv6 /64 network; 0 for no limit. */
  readonly connectionsPerAddressCount: number;
}

/** The limits that apply unless the application sets others. */
export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 256 * 1024,
  headerBytes: 16 * 1024,
  firstByteTimeoutMs: 10_000,
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 30_000,
  writeTimeoutMs: 30_000,
  unreadBytesPerAddress: 16 * 1024 * 1024,
  idleTimeoutMs: 75_000,
  lingerTimeoutMs: 2_000,
  defaultDeadlineMs: 30_000,
  maxDeadlineMs: 600_000,
  streamsPerConnectionCount: 256,
  connectionsCount: 10_000,
  connectionsPerAddressCount: 256,
};
