import { cpSync } from "node:fs";
import { inject } from "vitest";
import type { Curve, OnboardResult } from "../../../src/client/sdk/index.ts";
import { serviceFolder } from "./service.ts";

/** A dWallet that is Active in a baked folder. */
export interface BakedKey {
  readonly seed: Uint8Array;
  readonly onboarded: OnboardResult;
}

/** A service's folder in which another service has already worked. */
export interface BakedFolder {
  readonly folder: string;
  readonly keys: Readonly<Record<Curve, BakedKey>>;
  remove(): void;
}

/** The bakery's reply: a folder that must not be changed, and its keys. */
export interface BakedOrigin {
  readonly folder: string;
  readonly keys: Readonly<Record<Curve, { readonly seedHex: string; readonly onboarded: OnboardResult }>>;
}

declare module "vitest" {
  interface ProvidedContext {
    /** The address of this run's bakery. */
    bakeryUrl: string;
  }
}

/**
 * Copies a folder for `startService` from one that is made once per run: its localnet and its embedded database exist,
 * the protocol parameters are built, and the development project has an Active dWallet on each curve. For tests that
 * are about neither a first start nor an onboarding. `remove` deletes the copy.
 */
export async function bakedFolder(): Promise<BakedFolder> {
  const reply = await fetch(`${inject("bakeryUrl")}/baked`);
  if (!reply.ok) throw new Error(`the bakery failed: ${await reply.text()}`);
  const origin = (await reply.json()) as BakedOrigin;
  const { folder, remove } = serviceFolder();
  cpSync(origin.folder, folder, { recursive: true });
  const keyOf = (curve: Curve): BakedKey => {
    const { seedHex, onboarded } = origin.keys[curve];
    return { seed: new Uint8Array(Buffer.from(seedHex, "hex")), onboarded };
  };
  const keys = {
    SECP256K1: keyOf("SECP256K1"),
    SECP256R1: keyOf("SECP256R1"),
    ED25519: keyOf("ED25519"),
    RISTRETTO: keyOf("RISTRETTO"),
  };
  return { folder, keys, remove };
}
