import { TssError } from "../../client/sdk/index.ts";
import { wrongField } from "../signer-error.ts";

/** Runs the work of a client's signer, and names the contract's field if the signer refuses the payload. */
export async function asField<T>(field: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOfPayload = error instanceof TssError && error.reason === "VALIDATION" && isLocal(error);
    throw isOfPayload ? wrongField(field, error.message.slice(0, MAX_CHARACTERS)) : error;
  }
}

const MAX_CHARACTERS = 500;

/** An error of the service has its request id. */
function isLocal({ requestId }: TssError): boolean {
  return requestId === undefined;
}
