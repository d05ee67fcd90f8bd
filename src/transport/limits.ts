/** The bounds of a server. Bytes are before and after decompression alike. */
export interface Limits {
  /** Largest request message. */
  readonly bodyBytes: number;
  /** All request headers together. */
  readonly headerBytes: number;
  /** From the connection to the bytes that tell its protocol. */
  readonly firstByteTimeoutMs: number;
  /** HTTP/1.1: from the first byte of a request to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** From the request to the end of its body. */
  readonly bodyTimeoutMs: number;
  /** A caller that takes nothing of a reply for this long counts as gone. */
  readonly writeTimeoutMs: number;
  /** What the callers of one address may leave unread of their replies, beside what is just being sent. */
  readonly unreadBytesPerAddress: number;
  /** A connection without a request is closed after this. */
  readonly idleTimeoutMs: number;
  /** A refused request may go on sending its body for this long before its connection is cut. */
  readonly lingerTimeoutMs: number;
  /** Deadline of unary calls whose client sets none. Streams have none. */
  readonly defaultDeadlineMs: number;
  /** A longer deadline is shortened to this. */
  readonly maxDeadlineMs: number;
  /** Calls at a time on one HTTP/2 connection. */
  readonly streamsPerConnectionCount: number;
  /** Connections at a time, of whatever protocol; 0 for no bound. */
  readonly connectionsCount: number;
  /** Connections at a time from one address, or one IPv6 network of 64 bits; 0 for no bound. */
  readonly connectionsPerAddressCount: number;
}

/** The bounds where the application sets none. */
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
