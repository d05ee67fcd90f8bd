import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { demonstrate } from "../../src/cli/demo/demo.ts";
import { chooseTriple, createStageClock } from "../../src/cli/demo/demo-steps.ts";
import { poll } from "../../src/protocol/chain/poll.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import type { ContainerStore } from "./container-store.ts";
import type { Container, Containers } from "./containers.ts";

const START_TIMEOUT_MS = 300_000;
const READY = /ready at \S+/;

/** Runs a localnet, an api and a worker from the image, signs through them, and stops them. */
export async function checkService(
  store: ContainerStore,
  containers: Containers,
  print: (line: string) => void,
  { databaseUrl, redisUrl }: { readonly databaseUrl: string; readonly redisUrl: string },
): Promise<void> {
  const localnetPort = await freePort();
  const localnet = await containers.start(
    ["localnet", "--port", localnetPort, "--data-dir", "/data/localnet"],
    {},
  );
  await localnet.said(/fullnode and faucet +\S+/, START_TIMEOUT_MS);
  const adminApiKey = randomBytes(32).toString("base64url");
  const secrets = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, ADMIN_API_KEY: adminApiKey };
  const shared = {
    LOCALNET_URL: `http://127.0.0.1:${localnetPort}`,
    ALLOW_PUBLIC_PLAINTEXT: "true",
    PRESIGN_BUCKETS: "SECP256K1/ECDSASecp256k1",
  };
  await containers.run(["migrate"], shared, secrets);
  const created = JSON.parse(
    await containers.run(
      ["project", "create", "--name", "image", "--credit-usd", "5", "--json"],
      shared,
      secrets,
    ),
  ) as { apiKey: string };

  const [apiPort, workerPort] = [await freePort(), await freePort()];
  const start = async (type: string, port: string): Promise<Container> =>
    containers.start(
      ["serve"],
      { ...shared, PROCESS_TYPE: type, PORT: port, METRICS_PORT: await freePort() },
      secrets,
    );
  const [api, worker] = [await start("api", apiPort), await start("worker", workerPort)];
  const startedAt = performance.now();
  for (const replica of [api, worker]) {
    await replica.said(READY, START_TIMEOUT_MS);
    await checkConfinement(store, replica);
  }
  print(`ready and healthy after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);

  const baseUrl = `http://127.0.0.1:${apiPort}`;
  await poll(async () => ((await fetch(`${baseUrl}/v1/ready`)).status === 200 ? true : undefined), {
    timeoutMs: START_TIMEOUT_MS,
  });
  const { apiKey } = created;
  const access = {
    baseUrl,
    apiKey,
    adminApiKey,
    network: "localnet",
    fullnodeUrl: shared.LOCALNET_URL,
  } as const;
  const message = new TextEncoder().encode("a signature from an image");
  const clock = createStageClock((text) => void process.stdout.write(text));
  const report = await demonstrate(
    access,
    { triple: chooseTriple({}), message },
    clock,
    AbortSignal.timeout(START_TIMEOUT_MS),
  );
  assert.ok(report.verified, "an outside library refuses the signature");
  await checkSigner(containers, print, access);

  for (const container of [api, worker, localnet]) {
    const stoppedAt = performance.now();
    assert.equal(await container.stop(), 0);
    print(`SIGTERM ends it with 0 after ${((performance.now() - stoppedAt) / 1_000).toFixed(1)} s`);
  }
}

/** Checks that the container runs as an unprivileged user, cannot modify itself, and passes its own health check. */
async function checkConfinement(store: ContainerStore, { name, evaluate }: Container): Promise<void> {
  assert.equal((await evaluate("console.log(process.getuid())")).trim(), "65532");
  const write = 'try { require("fs").writeFileSync("/app/x", "") } catch (error) { console.log(error.code) }';
  assert.equal((await evaluate(write)).trim(), "EROFS");
  const rights =
    'console.log(/CapEff:\\s*(\\S+)/.exec(require("fs").readFileSync("/proc/1/status", "utf8"))[1])';
  assert.match((await evaluate(rights)).trim(), /^0+$/);
  await store.podman(["healthcheck", "run", name]);
}

/** Runs a signer from the image beside the service, makes a key and signs, and stops it. */
async function checkSigner(
  containers: Containers,
  print: (line: string) => void,
  {
    baseUrl,
    apiKey,
    fullnodeUrl,
  }: { readonly baseUrl: string; readonly apiKey: string; readonly fullnodeUrl: string },
): Promise<void> {
  const [port, token] = [await freePort(), randomBytes(32).toString("hex")];
  const files = { passphrase: randomBytes(32).toString("hex"), token, "api-key": apiKey };
  const volume = await containers.makeVolume(files);
  const settings = {
    SIGNER_STORE: "/data/keys.sealed",
    SIGNER_PASSPHRASE_FILE: "/data/passphrase",
    SIGNER_SOCKET: "off",
    SIGNER_PORT: port,
    SIGNER_TOKEN_FILE: "/data/token",
    SIGNER_SERVICE_URL: baseUrl,
    SIGNER_API_KEY_FILE: "/data/api-key",
    SIGNER_NETWORK: "localnet",
    SIGNER_FULLNODE_URLS: fullnodeUrl,
  };
  await containers.run(["signer", "create"], settings, {}, volume);
  const signer = await containers.start(["signer", "serve"], settings, {}, volume);
  await signer.said(READY, START_TIMEOUT_MS);
  const call = async (path: string, body: object) => {
    const reply = await fetch(`http://127.0.0.1:${port}/v1/signer/keys${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = (await reply.json()) as Record<string, string>;
    assert.equal(reply.status, 200, JSON.stringify(answer));
    return answer;
  };
  const key = await call("", { name: "payouts", curve: "SECP256K1" });
  const message = Buffer.from("signed by an image");
  const raw = {
    message: message.toString("base64"),
    signatureAlgorithm: "ECDSASecp256k1",
    hashScheme: "SHA256",
  };
  const signed = await call("/payouts/sign", { raw, idempotencyKey: "image" });
  const [publicKey, signature] = [key["publicKey"], signed["signature"]].map((one) =>
    Buffer.from(one!, "base64"),
  );
  const judged = { signatureAlgorithm: "ECDSASecp256k1", hash: "SHA256" } as const;
  assert.ok(isValidSignature({ ...judged, publicKey: publicKey!, message, signature: signature! }));
  assert.equal(await signer.stop(), 0);
  print("a signer makes a key and a signature, and ends with 0");
}

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}
