import { create } from "@bufbuild/protobuf";
import type { Prisma } from "../../gen/prisma/client.ts";
import { type EncryptionKey, EncryptionKeySchema } from "../../gen/proto/tss/v1/onboarding_pb.ts";
import { Curve } from "../../gen/proto/tss/v1/types_pb.ts";
import { type Page, type PageRequest, readPage, UUID_POSITION } from "../paging/read-page.ts";
import { curveOfNumber } from "../protocol/algorithms.ts";
import type { Database } from "../store/database.ts";

/** The columns read from `encryption_key`. */
export type EncryptionKeyRow = Prisma.EncryptionKeyGetPayload<{ select: typeof COLUMNS }>;

const COLUMNS = {
  id: true,
  curve: true,
  signerAddress: true,
  encryptionKey: true,
  signerPublicKey: true,
  objectId: true,
  txDigest: true,
} as const satisfies Prisma.EncryptionKeySelect;

/** Returns the project's key of a signer on a curve, or null. */
export function findKeyOfSigner(
  { prisma }: Pick<Database, "prisma">,
  key: { readonly projectId: string; readonly curve: number; readonly signerAddress: string },
): Promise<EncryptionKeyRow | null> {
  return prisma.encryptionKey.findUnique({ where: { projectId_curve_signerAddress: key }, select: COLUMNS });
}

/** Returns the project's key with this object id, or null. */
export function findKeyByObject(
  { prisma }: Pick<Database, "prisma">,
  key: { readonly projectId: string; readonly objectId: string },
): Promise<EncryptionKeyRow | null> {
  return prisma.encryptionKey.findFirst({ where: { ...key }, select: COLUMNS });
}

/** Reads a page of the project's registered keys, the newest first. */
export function listEncryptionKeys(
  { prisma }: Pick<Database, "prisma">,
  projectId: string,
  request: PageRequest,
): Promise<Page<EncryptionKeyRow>> {
  return readPage(request, {
    scope: ["encryption key", projectId],
    positionOf: ({ id }) => id,
    position: UUID_POSITION,
    read: (after, take) =>
      prisma.encryptionKey.findMany({
        where: { projectId, objectId: { not: null }, ...(after !== undefined && { id: { lt: after } }) },
        orderBy: { id: "desc" },
        take,
        select: COLUMNS,
      }),
  });
}

/** Encodes a registered key as the contract's message. */
export function encodeRegisteredKey(row: EncryptionKeyRow): EncryptionKey {
  if (row.objectId === null) throw new Error(`encryption key ${row.id} is not registered`);
  return create(EncryptionKeySchema, {
    encryptionKeyId: row.objectId,
    curve: curveEnum(row.curve),
    signerAddress: row.signerAddress,
    ...(row.txDigest === null ? {} : { txDigest: row.txDigest }),
  });
}

/** Returns the contract's enum of the chain's integer. */
export function curveEnum(curveNumber: number): Curve {
  const name = curveOfNumber(curveNumber);
  if (name === undefined) throw new Error(`there is no curve ${curveNumber}`);
  return Curve[name];
}
