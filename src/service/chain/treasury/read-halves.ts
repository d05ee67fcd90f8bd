import { bcs } from "@mysten/sui/bcs";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { Address, U64 } from "../../../protocol/chain/fast-bcs.ts";
import type { Read } from "../fullnodes/retry-read.ts";
import { listFields } from "./read-treasury-object.ts";

/**
 * Reads the users' halves that a Treasury can still complete in an epoch, of all dWallets. Runs each call with `read`, by
 * default once. A half whose last epoch has passed, or whose dWallet has left, is not among them.
 */
export async function readKeptHalves(
  client: Pick<SuiGrpcClient, "listDynamicFields">,
  { treasuryId, epoch }: { readonly treasuryId: string; readonly epoch: bigint },
  read?: Read,
): Promise<KeptHalf[]> {
  const fields = await listFields(client, treasuryId, MAX_FIELD_COUNT, read);
  return fields
    .filter(({ nameType }) => nameType.endsWith(LIST_NAME))
    .flatMap(({ name, value }) => {
      const dwalletId = Address.parse(name);
      return Halves.parse(value).map(({ presign_id: presignId, last_epoch }) => ({
        dwalletId,
        presignId,
        lastEpoch: BigInt(last_epoch),
      }));
    })
    .filter(({ lastEpoch }) => lastEpoch >= epoch);
}

/** A user's half of a signature that a Treasury keeps. Each has a different presign. */
export interface KeptHalf {
  readonly dwalletId: string;
  readonly presignId: string;
  /** The last epoch in which the Treasury completes it. */
  readonly lastEpoch: bigint;
}

/** The name of a dynamic field with the halves of a dWallet. Its package is the Treasury's version that introduced it. */
const LIST_NAME = "::custody::HalvesOf";
/** The Treasury also has a field for each half that ended, and for each imported key. */
const MAX_FIELD_COUNT = 1_000_000;

const Halves = bcs.vector(bcs.struct("Half", { presign_id: Address, last_epoch: U64 }));
