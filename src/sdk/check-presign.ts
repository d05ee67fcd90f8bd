import { type AlgorithmTriple, unsupportedAlgorithmName } from "../protocol/algorithms.ts";
import { equalBytes } from "../protocol/bytes.ts";
import { type ChainPresignSession, parsePresignSession } from "../protocol/chain-objects.ts";
import { sleep } from "../protocol/poll.ts";
import { PRESIGN_VERSION, presignVersion } from "../protocol/presign-version.ts";
import type { Action } from "./action.ts";
import { unsupportedAlgorithm } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import { PRESIGN } from "./object-kinds.ts";
import { readObject } from "./read-dwallet.ts";

/**
 * Compares a presign with the chain: its object must exist, be completed, have this algorithm, belong to this dWallet
 * or to all, and contain exactly these bytes. Throws PRESIGN_MISMATCH otherwise. So the client never computes a half
 * for a presign that the network did not make or has already signed with.
 */
export async function checkPresign(
  context: ClientContext,
  action: Action,
  offered: OfferedPresign,
): Promise<void> {
  const { presignId, presign, triple, dwalletId } = offered;
  if (!OBJECT_ID.test(presignId)) throw mismatch("the presign's id is not an object's id");
  const session = await awaitSession(context, action, presignId);
  if (session?.state.kind !== "Completed") throw mismatch("the chain has no such presign");
  const isFit =
    session.id === presignId &&
    session.curveNumber === triple.curveNumber &&
    session.signatureAlgorithmNumber === triple.signatureAlgorithmNumber &&
    (session.dwalletId === undefined || session.dwalletId === dwalletId);
  if (!isFit) {
    const name = unsupportedAlgorithmName(session.curveNumber, session.signatureAlgorithmNumber);
    if (name !== undefined) throw unsupportedAlgorithm(name);
    throw mismatch("the presign is for another algorithm or dWallet");
  }
  if (!equalBytes(session.state.output, presign)) throw mismatch("the presign is not the one on the chain");
  const version = presignVersion(presign);
  if (version !== PRESIGN_VERSION) {
    const message = `the presign is of version ${version}, and this client signs with version ${PRESIGN_VERSION} alone`;
    throw new TssError("NETWORK_UNSUPPORTED", message);
  }
}

/** A presign from the service, and its intended use. */
export interface OfferedPresign {
  readonly presignId: string;
  readonly presign: Uint8Array;
  readonly triple: AlgorithmTriple;
  readonly dwalletId: string;
}

/** The delays before each further read: the client's fullnode may lag behind the service's. */
const WAITS_MS = [50, 100, 200, 400, 800];

/** Returns the presign's session once it has ended, or its last state when the retries are used up. */
async function awaitSession(
  context: ClientContext,
  action: Action,
  presignId: string,
): Promise<ChainPresignSession | undefined> {
  for (let look = 0; ; look++) {
    const content = await readObject(context, action, PRESIGN, presignId);
    const session = content && parsePresignSession(content);
    const waitMs = WAITS_MS[look];
    if ((session !== undefined && session.state.kind !== "Requested") || waitMs === undefined) return session;
    await sleep(waitMs, action.signal);
  }
}

const OBJECT_ID = /^0x[0-9a-f]{64}$/;

function mismatch(message: string): TssError {
  return new TssError("PRESIGN_MISMATCH", message);
}
