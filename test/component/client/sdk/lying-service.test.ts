/**
 * Every lie about every field of every reply that the client uses. After each one the action ends with a TssError that
 * names the fault, or with the right outcome, and no request contains the seed or the share.
 */

import type { DescMethod } from "@bufbuild/protobuf";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { expect, it } from "vitest";
import { Account } from "../../../../gen/proto/tss/v1/account_pb.ts";
import { Onboarding } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Sharing } from "../../../../gen/proto/tss/v1/sharing_pb.ts";
import { Signing, SignRequest_Status } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import type { CryptoEngine, UserKeys } from "../../../../src/client/crypto/engine.ts";
import { importKey } from "../../../../src/client/sdk/actions/imports/import-key.ts";
import { getOrCreate, onboard, resumeOnboard } from "../../../../src/client/sdk/actions/onboard.ts";
import { adoptDWallet } from "../../../../src/client/sdk/actions/recovery/adopt-dwallet.ts";
import { recoverShare } from "../../../../src/client/sdk/actions/recovery/recover-share.ts";
import { resume } from "../../../../src/client/sdk/actions/resume.ts";
import { encodeResumeToken } from "../../../../src/client/sdk/actions/resume-token.ts";
import {
  acceptShare,
  registerRecipient,
  shareWith,
} from "../../../../src/client/sdk/actions/sharing/share-with.ts";
import { resumeSign, sign } from "../../../../src/client/sdk/actions/signing/sign.ts";
import { TssError } from "../../../../src/client/sdk/errors.ts";
import { findTriple } from "../../../../src/protocol/algorithms.ts";
import { ed25519PublicKey } from "../../../support/crypto/private-keys.ts";
import { atNight } from "../../../support/environment.ts";
import {
  createFakeService,
  DWALLET,
  DWALLET_ID,
  type FakeService,
  HELD_SHARE_ID,
  MESSAGE,
  RECIPIENT_KEY_ID,
  SEED,
  SHARE_ID,
  SIGN_REQUEST_ID,
  SIGNERS,
} from "../../../unit/client/sdk/fake-service.ts";
import { type Lie, liesAbout } from "./lies.ts";

/** The number of calls and chain reads after which the caller of an action gives up. An honest service needs fewer. */
const PATIENCE_COUNT = 14;
const TEST_TIMEOUT_MS = 300_000;
const AT_ONCE_COUNT = 256;
const ERROR_MAX_CHARACTERS = 4_000;
/** Ids that the service knows besides the right ones: of other objects, requests and networks. */
const OTHERS = [`0x${"9".repeat(64)}`, SHARE_ID, "01890a5d-ac96-774b-bcce-000000000000", "testnet"];
const METHODS = new Map<string, DescMethod>(
  [...Account.methods, ...Onboarding.methods, ...Sharing.methods, ...Signing.methods].map((method) => [
    method.localName,
    method,
  ]),
);

const curve = "ED25519";
const algorithm = { curve, signatureAlgorithm: "EdDSA", hashScheme: "SHA512" } as const;

/** An action, its initial state, and the parts of its result that a service could not forge. */
interface Scene {
  readonly prepare?: (service: FakeService) => void;
  readonly run: (service: FakeService, signal?: AbortSignal) => Promise<object>;
  readonly right: (service: FakeService) => object;
}

const active = ({ script }: FakeService) => {
  script.dwalletState = () => ({ Active: script.made.output });
};
const shareOf = ({ script }: FakeService) => ({
  userSecretKeyShareHex: bytesToHex(script.made.userSecretKeyShare),
  userPublicOutputHex: bytesToHex(script.made.userPublicOutput),
});
const PRIVATE_KEY = new Uint8Array(32).fill(0x5a);
const signature = { signature: DWALLET.sign(MESSAGE) };
const ONBOARD_TOKEN = encodeResumeToken({
  kind: "onboard",
  network: "localnet",
  curve,
  sessionIdentifier: new Uint8Array(32).fill(3),
});
const SIGN_TOKEN = encodeResumeToken({
  kind: "sign",
  network: "localnet",
  dwalletId: DWALLET_ID,
  triple: findTriple(curve, "EdDSA", "SHA512")!,
  messageDigest: sha256(MESSAGE),
  signRequestId: SIGN_REQUEST_ID,
});
/** The other user, as the owner knows them. */
const RECIPIENT = { address: SIGNERS.other.signerAddress, encryptionKeyId: RECIPIENT_KEY_ID };
const SCENES: Readonly<Record<string, Scene>> = {
  onboard: {
    run: ({ context }, signal) => onboard(context, { seed: SEED, curve }, { signal }),
    right: (service) => ({ dwallet: { id: DWALLET_ID, curve }, ...shareOf(service) }),
  },
  importKey: {
    run: ({ context }, signal) =>
      importKey(context, { seed: SEED, curve, privateKey: PRIVATE_KEY }, { signal }),
    right: (service) => ({
      dwallet: { id: DWALLET_ID, curve },
      publicKeyHex: bytesToHex(ed25519PublicKey(PRIVATE_KEY)),
      ...shareOf(service),
    }),
  },
  resumeOnboard: {
    run: ({ context }, signal) =>
      resumeOnboard(context, { seed: SEED, curve, dwalletId: DWALLET_ID }, { signal }),
    right: (service) => ({ dwallet: { id: DWALLET_ID, curve }, ...shareOf(service) }),
  },
  sign: {
    prepare: active,
    run: ({ context }, signal) =>
      sign(context, { seed: SEED, dwalletId: DWALLET_ID, ...algorithm, message: MESSAGE }, { signal }),
    right: () => signature,
  },
  "sign that continues a submitted request": {
    prepare(service) {
      active(service);
      service.script.reservedStatus = SignRequest_Status.submitted;
    },
    run: ({ context }, signal) =>
      sign(context, { seed: SEED, dwalletId: DWALLET_ID, ...algorithm, message: MESSAGE }, { signal }),
    right: () => signature,
  },
  "getOrCreate of a dWallet that there is": {
    prepare({ script }) {
      script.named = () => [{ name: "treasury" }];
    },
    run: ({ context }, signal) => getOrCreate(context, { seed: SEED, curve, name: "treasury" }, { signal }),
    right: (service) => ({ dwallet: { id: DWALLET_ID, curve }, ...shareOf(service) }),
  },
  "resume of an onboarding": {
    run: ({ context }, signal) => resume(context, ONBOARD_TOKEN, { seed: SEED }, { signal }),
    right: (service) => ({ kind: "onboard", dwallet: { id: DWALLET_ID, curve }, ...shareOf(service) }),
  },
  "resume of a signature": {
    prepare: active,
    run: ({ context }, signal) => resume(context, SIGN_TOKEN, {}, { signal }),
    right: () => ({ kind: "sign", dwalletId: DWALLET_ID, message: MESSAGE, ...signature }),
  },
  resumeSign: {
    prepare: active,
    run: ({ context }, signal) => resumeSign(context, { signRequestId: SIGN_REQUEST_ID }, { signal }),
    right: () => signature,
  },
  adoptDWallet: {
    prepare(service) {
      active(service);
      service.script.chainSession = service.script.sessionDigest;
    },
    run: ({ context }, signal) =>
      adoptDWallet(context, { seed: SEED, dwalletId: DWALLET_ID, curve }, { signal }),
    right: ({ script }) => ({
      dwallet: { id: DWALLET_ID, curve },
      publicKeyHex: bytesToHex(script.made.publicKey),
      encryptedUserSecretKeyShareId: SHARE_ID,
    }),
  },
  registerRecipient: {
    run: ({ context }, signal) => registerRecipient(context, { seed: SEED, curve }, { signal }),
    right: () => ({ address: SIGNERS.own.signerAddress }),
  },
  shareWith: {
    prepare(service) {
      active(service);
      service.script.chainSession = service.script.sessionDigest;
      service.script.heldShare = () => ({ encryption_key_address: SIGNERS.other.signerAddress });
    },
    run: ({ context }, signal) =>
      shareWith(context, { seed: SEED, dwalletId: DWALLET_ID, curve, recipient: RECIPIENT }, { signal }),
    right: () => ({
      dwalletId: DWALLET_ID,
      holderAddress: RECIPIENT.address,
      encryptedUserSecretKeyShareId: HELD_SHARE_ID,
    }),
  },
  acceptShare: {
    prepare(service) {
      active(service);
      service.script.listedShares = () => [SHARE_ID, HELD_SHARE_ID];
    },
    run: ({ context }, signal) =>
      acceptShare(context, { seed: SEED, dwalletId: DWALLET_ID, curve }, { signal }),
    right: ({ script }) => ({
      dwallet: { id: DWALLET_ID, curve },
      publicKeyHex: bytesToHex(script.made.publicKey),
      encryptedUserSecretKeyShareId: HELD_SHARE_ID,
    }),
  },
  recoverShare: {
    prepare: active,
    run: ({ context }, signal) =>
      recoverShare(context, { seed: SEED, dwalletId: DWALLET_ID, curve }, { signal }),
    right: shareOf,
  },
};

it.each(Object.keys(SCENES))(
  "%s ends with a typed error or the right outcome, whatever the service lies about",
  async (name) => {
    const scene = SCENES[name]!;
    const { service: honest, signal } = impatient(begin(scene));
    expect(await scene.run(honest, signal)).toMatchObject(scene.right(honest));

    const used = Object.keys(honest.counts()).filter((method) => METHODS.has(method));
    expect(used.length).toBeGreaterThan(0);
    const all = used.flatMap((method) =>
      liesAbout(METHODS.get(method)!.output, OTHERS).map((lie) => ({ method, lie })),
    );
    const cases = atNight(
      all,
      all.filter((_, index) => index % 6 === 0),
    );
    const faults: string[] = [];
    const waiting = cases.values();
    const work = async () => {
      for (const { method, lie } of waiting) {
        const fault = await tell(scene, method, lie);
        if (fault !== undefined) faults.push(`${method}.${lie.path}, ${lie.how}: ${fault}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE_COUNT }, work));
    expect(faults).toEqual([]);
  },
  TEST_TIMEOUT_MS,
);

function begin({ prepare }: Scene): FakeService {
  const service = createFakeService();
  prepare?.(service);
  return service;
}

/** The service, with a caller who gives up when it keeps the client waiting. */
function impatient(service: FakeService): { service: FakeService; signal: AbortSignal } {
  const patience = new AbortController();
  let count = 0;
  const tick = () => {
    if (++count > PATIENCE_COUNT) patience.abort();
  };
  service.script.before = tick;
  const { context } = service;
  const chainReader: typeof context.chainReader = async (...args) => {
    const reader = await context.chainReader(...args);
    return {
      getObjects(...wanted) {
        tick();
        return reader.getObjects(...wanted);
      },
    };
  };
  // Class-group keys take long to derive, and no lie changes them.
  const keys: UserKeys = Object.create(SIGNERS.own, { destroy: { value() {} } });
  const engine: CryptoEngine = { ...context.engine, deriveUserKeys: async () => keys };
  return { service: { ...service, context: { ...context, chainReader, engine } }, signal: patience.signal };
}

/** Returns the client's mistakes when every reply of a method contains the lie. */
async function tell(scene: Scene, method: string, lie: Lie): Promise<string | undefined> {
  const { service, signal } = impatient(begin(scene));
  service.script.lie = (called, reply) => {
    if (called === method) lie.tell(reply);
  };
  try {
    const result = await scene.run(service, signal);
    expect(result).toMatchObject(scene.right(service));
  } catch (error) {
    if (!(error instanceof TssError)) return `it ended with ${String(error).slice(0, 300)}`;
    if (error.reason === "INTERNAL") return `it ended as INTERNAL: ${String(error.cause).slice(0, 300)}`;
    const size = JSON.stringify([error.message, error.reason, error.metadata]).length;
    if (size > ERROR_MAX_CHARACTERS) return `its error has ${size} characters`;
  }
  const secrets = [SEED, PRIVATE_KEY, service.script.made.userSecretKeyShare, DWALLET.userSecretKeyShare];
  return service.seen.some((call) => secrets.some((secret) => holds(call, secret)))
    ? "what was sent holds a secret"
    : undefined;
}

/** Whether any request contains these bytes, raw or as hex or base64. */
function holds(call: { readonly headers: Headers; readonly request: unknown }, secret: Uint8Array): boolean {
  const bytes = Buffer.from(secret);
  const texts = [bytes.toString("hex"), bytes.toString("base64").replace(/=+$/, "")];
  const values: unknown[] = [Object.fromEntries(call.headers), call.request];
  for (let value = values.pop(); value !== undefined; value = values.pop()) {
    if (value instanceof Uint8Array) {
      if (Buffer.from(value).includes(bytes)) return true;
    } else if (typeof value === "string") {
      if (texts.some((text) => value.includes(text))) return true;
    } else if (typeof value === "object" && value !== null) {
      values.push(...Object.values(value).filter((inner) => inner !== undefined));
    }
  }
  return false;
}
