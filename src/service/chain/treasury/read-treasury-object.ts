import { bcs } from "@mysten/sui/bcs";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { deriveDynamicFieldID, normalizeSuiAddress } from "@mysten/sui/utils";
import { Address, U64 } from "../../../protocol/chain/fast-bcs.ts";
import { TreasuryDWallet, TreasuryObject } from "../../../protocol/chain/treasury-custody.ts";
import type { Read } from "../fullnodes/retry-read.ts";
import { byOperation, type OperationPrice, PRICED_OPERATIONS } from "./read-prices.ts";
import { type TreasuryAnnouncement, type TreasuryState, treasuryState } from "./treasury-state.ts";

/** Reads a Treasury. Throws if the object does not exist or is not a Treasury. */
export async function readTreasuryObject(
  client: Pick<SuiGrpcClient, "core">,
  treasuryId: string,
): Promise<SharedTreasury> {
  const { object } = await client.core.getObject({ objectId: treasuryId, include: { content: true } });
  const [typePackageId, module, name, ...rest] = object.type.split("::");
  if (module !== "treasury" || name !== "Treasury" || rest.length > 0 || object.owner.$kind !== "Shared")
    throw new Error(`${treasuryId} is a ${object.type}, not a shared Treasury`);
  const content = TreasuryObject.parse(object.content);
  const { dwallets, presign_caps } = content.custody;
  return {
    ...treasuryState(content),
    id: content.id,
    ceilingsId: content.ceilings.id,
    dwalletsId: dwallets.id,
    dwalletCount: BigInt(dwallets.size),
    presignCapsId: presign_caps.id,
    presignCount: BigInt(presign_caps.size),
    typePackageId: normalizeSuiAddress(typePackageId ?? ""),
    initialSharedVersion: object.owner.Shared.initialSharedVersion,
  };
}

/** A Treasury with its shared reference and its tables. */
export interface SharedTreasury extends TreasuryState {
  readonly id: string;
  /** The id of the table of price ceilings. */
  readonly ceilingsId: string;
  /** The id of the table of dWallets whose capabilities the Treasury holds. */
  readonly dwalletsId: string;
  readonly dwalletCount: bigint;
  /** The id of the table of the capabilities of unused presigns. */
  readonly presignCapsId: string;
  readonly presignCount: bigint;
  /** The first version of the package, which names its types. */
  readonly typePackageId: string;
  readonly initialSharedVersion: string;
}

/** Reads the price ceilings of a Treasury, in order. Runs each call with `read`, by default once. */
export async function readPriceCeilings(
  client: Pick<SuiGrpcClient, "listDynamicFields">,
  { ceilingsId }: Pick<SharedTreasury, "ceilingsId">,
  read?: Read,
): Promise<OperationPrice[]> {
  const fields = await listFields(client, ceilingsId, MAX_CEILING_COUNT, read);
  return fields
    .flatMap(({ name, value }): OperationPrice[] => {
      const { op, curve, signature_algorithm: signatureAlgorithm } = PriceKey.parse(name);
      const operation = PRICED_OPERATIONS[op];
      const { ika, sui } = Ceiling.parse(value);
      if (operation === undefined) return [];
      return [{ operation, curve, signatureAlgorithm, ika: BigInt(ika), sui: BigInt(sui) }];
    })
    .sort(byOperation);
}

/** Reads the announced releases of a Treasury. */
export async function readReleases(
  client: Pick<SuiGrpcClient, "core">,
  { announcedDWalletIds: ids, dwalletsId }: Pick<SharedTreasury, "announcedDWalletIds" | "dwalletsId">,
): Promise<AnnouncedRelease[]> {
  if (ids.length === 0) return [];
  const objectIds = ids.map((id) =>
    deriveDynamicFieldID(dwalletsId, ID_TYPE, Address.serialize(id).toBytes()),
  );
  const { objects } = await client.core.getObjects({ objectIds, include: { content: true } });
  return ids.flatMap((dwalletId, index) => {
    const object = objects[index];
    // The announcement has ended since the Treasury was read.
    if (object === undefined || object instanceof Error) return [];
    const { owner, release } = TreasuryDWallet.parse(object.content.subarray(FIELD_HEAD_BYTES));
    return release === null
      ? []
      : [{ dwalletId, owner, to: release.to, fromEpoch: BigInt(release.from_epoch) }];
  });
}

/** The announced release of a dWallet's capability by the administrator. */
export interface AnnouncedRelease extends TreasuryAnnouncement {
  readonly dwalletId: string;
  /** The address of the user's encryption key. */
  readonly owner: string;
}

const MAX_CEILING_COUNT = 1_000;
const ID_TYPE = "0x2::object::ID";
/** The content of a field begins with the field's id and its name, 32 bytes each. */
const FIELD_HEAD_BYTES = 64;

const PriceKey = bcs.struct("PriceKey", { op: bcs.u8(), curve: bcs.u32(), signature_algorithm: bcs.u32() });
const Ceiling = bcs.struct("Ceiling", { ika: U64, sui: U64 });

/**
 * Returns the dynamic fields of an object with their values, page by page. Runs each call with `read`, by default once.
 * Throws above `maxCount` fields.
 */
export async function listFields(
  client: Pick<SuiGrpcClient, "listDynamicFields">,
  parentId: string,
  maxCount: number,
  read: Read = once,
): Promise<FieldContent[]> {
  const fields: FieldContent[] = [];
  let cursor: string | null = null;
  do {
    const after: string | null = cursor;
    const page: Awaited<ReturnType<typeof listPage>> = await read((signal) =>
      listPage(client, { parentId, cursor: after, signal }),
    );
    for (const { fieldId, name, value } of page.dynamicFields)
      fields.push({ fieldId, nameType: name.type, name: name.bcs, value: value.bcs });
    if (fields.length > maxCount) throw new Error(`${parentId} has more than ${maxCount} entries`);
    cursor = page.hasNextPage ? page.cursor : null;
  } while (cursor !== null);
  return fields;
}

/** A dynamic field, in BCS. */
interface FieldContent {
  /** The id of the field's object. */
  readonly fieldId: string;
  readonly nameType: string;
  readonly name: Uint8Array;
  readonly value: Uint8Array;
}

const PAGE_SIZE = 500;

const once: Read = (call) => call(new AbortController().signal);

function listPage(
  client: Pick<SuiGrpcClient, "listDynamicFields">,
  page: { readonly parentId: string; readonly cursor: string | null; readonly signal: AbortSignal },
) {
  return client.listDynamicFields({ ...page, limit: PAGE_SIZE, include: { value: true } });
}
