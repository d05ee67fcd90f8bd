import { CoordinatorInnerModule, CoordinatorModule } from "@ika.xyz/sdk";
import { TreasuryObject } from "../../protocol/chain/treasury-custody.ts";
import { Coin } from "../fullnode/objects/object.ts";
import { coinTypeOf } from "../fullnode/objects/sui-types.ts";
import type { ContentsCodec } from "../fullnode/wire/object-proto.ts";
import type { NetworkAddresses } from "./addresses.ts";
import { coordinatorTypes } from "./coordinator/coordinator-state.ts";
import { TreasuryCap, treasuryType } from "./treasury/treasury-state.ts";

/** Returns the BCS codec of each object type of this network, or undefined for dynamic fields and the inner state. */
export function objectCodecs(addresses: NetworkAddresses): (type: string) => ContentsCodec | undefined {
  const { inner, coordinator } = coordinatorTypes(addresses.dwalletPackageId);
  const codecs = new Map<string, ContentsCodec>([
    [coordinator, CoordinatorModule.DWalletCoordinator],
    [treasuryType(addresses, "treasury::Treasury"), TreasuryObject],
    [treasuryType(addresses, "roles::AdminCap"), TreasuryCap],
    [treasuryType(addresses, "treasury::OperatorCap"), TreasuryCap],
    ...Object.entries(COORDINATOR_INNER).map(([name, codec]) => [inner(name), codec] as const),
  ]);
  return (type) => (coinTypeOf(type) === undefined ? codecs.get(type) : Coin);
}

const {
  DWallet,
  DWalletCap,
  DWalletNetworkEncryptionKey,
  EncryptedUserSecretKeyShare,
  EncryptionKey,
  ImportedKeyDWalletCap,
  PartialUserSignature,
  PresignSession,
  SignSession,
  UnverifiedPartialUserSignatureCap,
  UnverifiedPresignCap,
  VerifiedPartialUserSignatureCap,
  VerifiedPresignCap,
} = CoordinatorInnerModule;

/** The coordinator's object types, by their names in Move. */
const COORDINATOR_INNER = {
  DWallet,
  DWalletCap,
  DWalletNetworkEncryptionKey,
  EncryptedUserSecretKeyShare,
  EncryptionKey,
  ImportedKeyDWalletCap,
  PartialUserSignature,
  PresignSession,
  SignSession,
  UnverifiedPartialUserSignatureCap,
  UnverifiedPresignCap,
  VerifiedPartialUserSignatureCap,
  VerifiedPresignCap,
};

/** Fields that are lists of numbers. All other fields that decode to a list of numbers are bytes. */
export const NUMBER_LISTS: ReadonlySet<string> = new Set(["supported_curves"]);
