/** Cloud KMS against servers that follow their documented APIs. The clients find their credentials as in production. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { awsKms } from "../../../src/signer/seals/aws-kms.ts";
import { gcpKms } from "../../../src/signer/seals/gcp-kms.ts";
import { passphraseSeal } from "../../../src/signer/seals/passphrase-seal.ts";
import { type KeyWrapper, wrappedSeal } from "../../../src/signer/seals/wrapped-seal.ts";
import { createKeyFile, openFileKeyStore, openKeyFile } from "../../../src/signer/store/file-key-store.ts";
import { printed } from "../cli/run-cli.ts";

const ARN = "arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";
const RESOURCE = "projects/p/locations/europe/keyRings/r/cryptoKeys/k";

interface Call {
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

let folder: string;
let server: http.Server;
let url: string;
let calls: Call[] = [];
let next: { readonly status: number; readonly body: unknown } | undefined;
const kmsKey = randomBytes(32);

beforeAll(async () => {
  server = http.createServer((request, reply) => {
    void answer(request).then(({ status, body }) => {
      const isText = typeof body === "string";
      reply.writeHead(status, { "content-type": "application/x-amz-json-1.1" });
      reply.end(isText ? body : JSON.stringify(body));
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tss-kms-"));
  [calls, next] = [[], undefined];
  vi.stubEnv("AWS_ENDPOINT_URL_KMS", url);
  // A profile of the developer would take the place of the credentials.
  vi.stubEnv("AWS_PROFILE", "");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret-of-the-tests");
  writeFileSync(at("subject"), "subject-token");
  const account = {
    type: "external_account",
    audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    token_url: `${url}/sts`,
    credential_source: { file: at("subject") },
  };
  writeFileSync(at("google.json"), JSON.stringify(account));
  vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", at("google.json"));
  // Otherwise the library asks Google for the name of the project.
  vi.stubEnv("GOOGLE_CLOUD_PROJECT", "p");
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

describe.each([
  ["AWS KMS", () => awsKms(ARN), /^POST \/$/],
  [
    "Google Cloud KMS",
    () => gcpKms(RESOURCE, url),
    /^POST \/v1\/projects\/p\/locations\/europe\/keyRings\/r\//,
  ],
] as const)("a key file whose key %s wraps", (_, open, path_) => {
  it("opens with it alone, and a signature needs no call of it", async () => {
    const seal = wrappedSeal(await open());
    await createKeyFile(at("keys"), seal);
    const store = await openFileKeyStore(at("keys"), seal);
    const before = kmsCalls().length;
    await store.add({
      name: "a",
      curve: "ED25519",
      seed: new Uint8Array(32).fill(9),
      createTimeMs: 0,
      progress: { kind: "creating" },
    });
    expect(kmsCalls()).toHaveLength(before);
    await store.close();
    const sealed = readFileSync(at("keys"));
    expect((await openKeyFile(sealed, wrappedSeal(await open()))).keys).toMatchObject([{ name: "a" }]);
    for (const call of kmsCalls()) expect(`POST ${call.url}`).toMatch(path_);
    const other = passphraseSeal("a passphrase of the tests", 4);
    await expect(openKeyFile(sealed, other)).rejects.toThrow("and SIGNER_SEAL is passphrase");
  });

  it("does not open in another file's context", async () => {
    await createKeyFile(at("keys"), wrappedSeal(await open()));
    const text = readFileSync(at("keys")).toString("latin1");
    const [, context] = /"context":"([0-9a-f]{32})"/.exec(text)!;
    const swapped = Buffer.from(text.replace(context!, "0".repeat(32)), "latin1");
    await expect(openKeyFile(swapped, wrappedSeal(await open()))).rejects.toThrow(
      /KMS.*cannot be decrypted/i,
    );
  });

  it.each([
    [403, "is not authorized", /KMS.*is not authorized/],
    [400, "is pending deletion", /KMS.*is pending deletion/],
    [200, undefined, /KMS/],
  ])("is not made if it answers %d and %j", async (status, message, fault) => {
    const wrapper = await open();
    await wrapper.wrap(new Uint8Array(32), "x");
    next = { status, body: { __type: "AccessDeniedException", message, error: { message } } };
    await expect(createKeyFile(at("keys"), wrappedSeal(wrapper))).rejects.toThrow(fault);
  });

  it("is not made if it does not return the key that it has wrapped", async () => {
    const wrapper: KeyWrapper = { ...(await open()), unwrap: async () => new Uint8Array(32) };
    await expect(createKeyFile(at("keys"), wrappedSeal(wrapper))).rejects.toThrow("does not return the key");
  });
});

it("tss signer makes, copies and restores a file that AWS KMS seals, and moves it to a passphrase", async () => {
  const settings = { SIGNER_STORE: at("keys"), SIGNER_SEAL: `aws-kms:${ARN}`, LOG_LEVEL: "silent" };
  await printed(["signer", "create"], settings);
  await printed(["signer", "backup", "--out", at("copy")], settings);
  rmSync(at("keys"));
  await printed(["signer", "restore", "--from", at("copy")], settings);
  expect(readFileSync(at("keys"))).toEqual(readFileSync(at("copy")));
  writeFileSync(at("passphrase"), "a passphrase of the tests", { mode: 0o600 });
  const moved = { SIGNER_STORE: at("moved"), SIGNER_PASSPHRASE_FILE: at("passphrase") };
  await printed(["signer", "restore", "--from", at("copy"), "--from-seal", `aws-kms:${ARN}`], moved);
  const { keys } = await openKeyFile(readFileSync(at("moved")), passphraseSeal("a passphrase of the tests"));
  expect(keys).toEqual([]);
});

it("AWS KMS is called in the region of the key, with a signature and an encryption context", async () => {
  await (await awsKms(ARN)).wrap(Uint8Array.of(1, 2, 3), "store-1");
  const [call] = kmsCalls();
  expect(call).toMatchObject({
    headers: { "x-amz-target": "TrentService.Encrypt" },
    body: { KeyId: ARN, Plaintext: "AQID", EncryptionContext: { "tss-signer-store": "store-1" } },
  });
  expect(call!.headers.authorization).toMatch(/Credential=AKIDEXAMPLE\/\d+\/eu-west-1\/kms\/aws4_request/);
});

it("Google Cloud KMS gets the token of the workload's identity", async () => {
  await (await gcpKms(RESOURCE, url)).wrap(Uint8Array.of(1, 2, 3), "store-1");
  const [call] = kmsCalls();
  expect(call).toMatchObject({
    url: `/v1/${RESOURCE}:encrypt`,
    headers: { authorization: "Bearer google-token" },
    body: { plaintext: "AQID", additionalAuthenticatedData: Buffer.from("store-1").toString("base64") },
  });
});

const at = (name: string) => path.join(folder, name);
const kmsCalls = () => calls.filter((call) => call.url !== "/sts");

async function answer(request: http.IncomingMessage): Promise<{ status: number; body: unknown }> {
  if (request.url === "/sts") {
    request.resume();
    const token = { access_token: "google-token", expires_in: 3600, token_type: "Bearer" };
    return {
      status: 200,
      body: { ...token, issued_token_type: "urn:ietf:params:oauth:token-type:access_token" },
    };
  }
  const body = (await json(request)) as Record<string, unknown>;
  calls.push({ url: request.url!, headers: request.headers, body });
  if (next !== undefined) return next;
  const target = String(request.headers["x-amz-target"] ?? "");
  const action = target === "" ? /:(encrypt|decrypt)$/.exec(request.url!)?.[1] : target.split(".")[1];
  const aad = JSON.stringify(body["EncryptionContext"] ?? body["additionalAuthenticatedData"]);
  const octets = (...names: string[]) =>
    Buffer.from(String(names.map((name) => body[name]).find((value) => value !== undefined)), "base64");
  if (action?.toLowerCase() === "encrypt") {
    const wrapped = sealWith(aad, octets("Plaintext", "plaintext")).toString("base64");
    return { status: 200, body: { CiphertextBlob: wrapped, ciphertext: wrapped } };
  }
  const plain = openWith(aad, octets("CiphertextBlob", "ciphertext"))?.toString("base64");
  if (plain !== undefined) return { status: 200, body: { Plaintext: plain, plaintext: plain } };
  const message = "the ciphertext cannot be decrypted";
  return { status: 400, body: { __type: "InvalidCiphertextException", message, error: { message } } };
}

function sealWith(aad: string, plain: Buffer): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", kmsKey, nonce).setAAD(Buffer.from(aad));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function openWith(aad: string, sealed: Buffer): Buffer | undefined {
  const decipher = createDecipheriv("aes-256-gcm", kmsKey, sealed.subarray(0, 12)).setAAD(Buffer.from(aad));
  decipher.setAuthTag(sealed.subarray(-16));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
  } catch {
    return undefined;
  }
}
