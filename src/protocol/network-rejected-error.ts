/** Thrown when an object reaches a final state that is a rejection. */
export class NetworkRejectedError extends Error {
  override readonly name = "NetworkRejectedError";
  readonly objectId: string;
  /** The object's state, such as `NetworkRejectedDKGVerification`. */
  readonly state: string;

  constructor(objectId: string, state: string) {
    super(`the network answered ${state}`);
    this.objectId = objectId;
    this.state = state;
  }
}
