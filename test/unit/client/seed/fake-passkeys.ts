import { createHmac, randomBytes } from "node:crypto";
import { inspect } from "node:util";
import { vi } from "vitest";

/** A passkey of the fake platform. */
export interface FakePasskey {
  readonly id: string;
  /** The key of its pseudo-random function. */
  readonly key: Uint8Array;
}

/** What the fake platform does with the next questions. */
export interface FakeBehaviour {
  /** What creation says about the extension. */
  created: { prf?: { enabled?: boolean } };
  /** Creation's `getAuthenticatorData` and `getTransports` exist. */
  isModern: boolean;
  flags: number;
  /** Replaces the passkey's results of the extension. */
  results?: (value: Uint8Array) => unknown;
  /** The passkey that answers, whatever was asked. */
  answering?: FakePasskey;
  /** Fails the question. */
  failure?: Error;
  /** The question never ends, not even when its signal aborts. */
  hangs: boolean;
}

/** The platform's WebAuthn, as far as a test needs it. */
export interface FakePlatform {
  readonly behaviour: FakeBehaviour;
  readonly passkeys: FakePasskey[];
  /** Each question's `publicKey`. */
  readonly created: PublicKeyCredentialCreationOptions[];
  readonly asked: PublicKeyCredentialRequestOptions[];
  /** The bytes that the platform handed out as values of the extension. */
  readonly handedOut: Uint8Array[];
  /** The passkeys that the page no longer knows. */
  readonly forgotten: { rpId: string; credentialId: string }[];
  /** Adds a passkey. */
  add(): FakePasskey;
}

/** Flags of an answer: the user is present and verified, and the passkey may be copied and was. */
export const SYNCED = 0x1d;
/** The same for a passkey that stays on its device. */
export const DEVICE_BOUND = 0x05;

/** The value of a passkey's function, as WebAuthn defines it: HMAC-SHA-256 over the hashed input. */
export function prfValue({ key }: FakePasskey, input: Uint8Array): Uint8Array {
  return new Uint8Array(createHmac("sha256", key).update(input).digest());
}

/** Installs a fake platform in the globals. Remove it with `vi.unstubAllGlobals`. */
export function installFakePlatform(): FakePlatform {
  const platform: FakePlatform = {
    behaviour: { created: { prf: { enabled: true } }, isModern: true, flags: SYNCED, hangs: false },
    passkeys: [],
    created: [],
    asked: [],
    handedOut: [],
    forgotten: [],
    add() {
      const passkey = { id: randomBytes(16).toString("base64url"), key: randomBytes(32) };
      platform.passkeys.push(passkey);
      return passkey;
    },
  };
  const { behaviour } = platform;
  const authenticatorData = (): ArrayBuffer => {
    const data = new Uint8Array(37);
    data[32] = behaviour.flags;
    return data.buffer;
  };
  const fail = async (): Promise<void> => {
    if (behaviour.hangs) await new Promise(() => {});
    if (behaviour.failure !== undefined) throw behaviour.failure;
  };
  const credentials = {
    async create({ publicKey }: { publicKey: PublicKeyCredentialCreationOptions }) {
      platform.created.push(publicKey);
      await fail();
      const { id } = platform.add();
      const response = behaviour.isModern
        ? { getAuthenticatorData: authenticatorData, getTransports: () => ["internal", "hybrid"] }
        : {};
      return { id, response, getClientExtensionResults: () => behaviour.created };
    },
    async get({ publicKey }: { publicKey: PublicKeyCredentialRequestOptions }) {
      platform.asked.push(publicKey);
      await fail();
      const allowed = (publicKey.allowCredentials ?? []).map(({ id }) =>
        Buffer.from(id as Uint8Array).toString("base64url"),
      );
      const passkey =
        behaviour.answering ??
        platform.passkeys.find(({ id }) => allowed.length === 0 || allowed.includes(id));
      if (passkey === undefined) throw new DOMException("no passkey", "NotAllowedError");
      const value = prfValue(passkey, publicKey.extensions?.prf?.eval?.first as Uint8Array);
      platform.handedOut.push(value);
      const extensionResults =
        behaviour.results === undefined
          ? { prf: { results: { first: value.buffer } } }
          : behaviour.results(value);
      return {
        id: passkey.id,
        response: { authenticatorData: authenticatorData() },
        getClientExtensionResults: () => extensionResults,
      };
    },
  };
  vi.stubGlobal("navigator", { credentials });
  vi.stubGlobal("location", { hostname: "wallet.example" });
  vi.stubGlobal("PublicKeyCredential", {
    async signalUnknownCredential(unknown: { rpId: string; credentialId: string }) {
      platform.forgotten.push(unknown);
    },
  });
  return platform;
}

/** A text of everything that an error shows. */
export function shownBy(error: unknown): string {
  const seen: string[] = [];
  for (let each = error; each instanceof Error; each = each.cause) {
    seen.push(String(each), each.stack ?? "", JSON.stringify(each), inspect(each));
  }
  return seen.join("\n");
}

/** How a secret could appear in a text. */
export function formsOf(secret: Uint8Array): string[] {
  const bytes = Buffer.from(secret);
  return [bytes.toString("hex"), bytes.toString("base64url").slice(0, 20), [...secret].join()];
}

/** The error of a call that must fail. */
export async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    () => new Error("the call succeeded"),
    (error: unknown) => error,
  );
}
