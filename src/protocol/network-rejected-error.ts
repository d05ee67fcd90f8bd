/** Thrown when the chain's word is final and not the wanted one. */
export class NetworkRejectedError extends Error {
  override readonly name = "NetworkRejectedError";
  /** The object. */
  readonly objectId: string;
  /** Its state, such as `NetworkRejectedDKGVerification`. */
  readonly state: string;

  constructor(objectId: string, state: string) {
    super(`the network answered ${state}`);
    this.objectId = objectId;
    this.state = state;
  }
}
