/** The names of all signals. */
export const topics = {
  /** A sign request changed its state. */
  sign: (signRequestId: string): string => `sign:${signRequestId}`,
  /** A presign of the network became ready, or came back to the pool. */
  presignReady: (network: string): string => `presign-ready:${network}`,
  /** Presigns of the network were taken or are waited for: the pool may have to be refilled. */
  presignWanted: (network: string): string => `presign-wanted:${network}`,
  /** An operation for the network was put into the outbox. */
  outbox: (network: string): string => `outbox:${network}`,
  /** A transaction of the network landed: sessions may have begun. */
  landed: (network: string): string => `landed:${network}`,
  /** The operation about this row ended. */
  operation: (subjectId: string): string => `operation:${subjectId}`,
} as const;
