/** One trace from the caller through database, submitter and settlement, as an OTLP receiver gets it. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../../src/client/sdk/index.ts";
import { bakedFolder } from "../support/service/baked-folder.ts";
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from "../support/service/otlp-receiver.ts";
import { type ServiceProcess, startService } from "../support/service/service.ts";

const { folder, remove } = await bakedFolder();
const MESSAGE = "a message that no trace may show";
const CALLER = { traceId: randomBytes(16).toString("hex"), spanId: randomBytes(8).toString("hex") };
const ONBOARDING_TRACE = randomBytes(16).toString("hex");
const UNSAMPLED_TRACE = randomBytes(16).toString("hex");
let receiver: OtlpReceiver;
let service: ServiceProcess;
/** The spans of the signature's trace. */
let spans: readonly ReceivedSpan[];
let scraped: { readonly openMetrics: string; readonly text: string };

// A service sends its remaining spans when it stops, so the tests look at whole traces.
beforeAll(async () => {
  receiver = await startOtlpReceiver();
  service = await startService(folder, {
    METRICS_PUBLIC: "true",
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: "x-team=signing%20team",
    OTEL_SERVICE_NAME: "signing-under-test",
  });
  const { baseUrl, apiKey } = service.access;
  const client = createClient({ baseUrl, apiKey, network: "localnet" });
  const seed = new Uint8Array(randomBytes(32));
  const onboarded = await client.onboard(
    { seed: seed.slice(), curve: "ED25519" },
    { traceparent: `00-${ONBOARDING_TRACE}-${CALLER.spanId}-01` },
  );
  await client.sign(
    {
      seed,
      dwalletId: onboarded.dwallet.id,
      curve: "ED25519",
      signatureAlgorithm: "EdDSA",
      hashScheme: "SHA512",
      message: new TextEncoder().encode(MESSAGE),
      userSecretKeyShareHex: onboarded.userSecretKeyShareHex,
    },
    { traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01` },
  );
  await receiver.until((all) =>
    all.some(({ traceId, name }) => traceId === CALLER.traceId && name === "settle sign"),
  );
  await getPricing(`00-${UNSAMPLED_TRACE}-${CALLER.spanId}-00`);
  await getPricing("00-not-a-trace-01");
  await getPricing();
  scraped = {
    openMetrics: await scrape("application/openmetrics-text; version=1.0.0"),
    text: await scrape("text/plain"),
  };
  expect(await service.stop()).toBe(0);
  spans = receiver.spans.filter(({ traceId }) => traceId === CALLER.traceId);
});

afterAll(async () => {
  await service?.stop();
  await receiver?.close();
  remove();
});

async function getPricing(traceparent?: string): Promise<void> {
  const { baseUrl, apiKey } = service.access;
  const headers = { authorization: `Bearer ${apiKey}`, ...(traceparent && { traceparent }) };
  expect((await fetch(`${baseUrl}/v1/billing/pricing`, { headers })).status).toBe(200);
}

async function scrape(accept: string): Promise<string> {
  return (await fetch(`${service.access.baseUrl}/metrics`, { headers: { accept } })).text();
}

const named = (name: string): ReceivedSpan => {
  const found = spans.find((span) => span.name === name);
  if (found === undefined)
    throw new Error(`no span ${name} among ${spans.map((span) => span.name).join(", ")}`);
  return found;
};
const parentOf = ({ parentSpanId }: ReceivedSpan): string =>
  parentSpanId === CALLER.spanId
    ? "the caller"
    : (spans.find(({ spanId }) => spanId === parentSpanId)?.name ?? "nobody");

describe("a signature with a caller's traceparent", () => {
  it("is one trace, and each call is a child of the caller's span", () => {
    const servers = spans.filter(({ kind }) => kind === 2);
    const names = new Set(servers.map(({ name }) => name));
    expect([...names].sort()).toEqual(
      [
        "tss.v1.Onboarding/GetNetwork",
        "tss.v1.Signing/GetSign",
        "tss.v1.Signing/ReserveSign",
        "tss.v1.Signing/SubmitSign",
        "tss.v1.Signing/WatchSign",
      ].filter((name) => names.has(name)),
    );
    expect(names).toContain("tss.v1.Signing/SubmitSign");
    expect(new Set(servers.map(parentOf))).toEqual(new Set(["the caller"]));
    expect(named("tss.v1.Signing/SubmitSign").attributes).toMatchObject({
      "rpc.system": "connect_rpc",
      "rpc.service": "tss.v1.Signing",
      "rpc.method": "SubmitSign",
    });
  });

  it("has spans for each call's database statements", () => {
    const submit = named("tss.v1.Signing/SubmitSign");
    const statements = spans
      .filter(({ parentSpanId }) => parentSpanId === submit.spanId)
      .map(({ name }) => name);
    expect(statements).toContainEqual(expect.stringContaining("INSERT ledger_entry"));
  });

  it("continues with the submitter and the settler as parts of the call", () => {
    expect(parentOf(named("submit sign"))).toBe("tss.v1.Signing/SubmitSign");
    expect(parentOf(named("transaction on the chain"))).toBe("submit sign");
    expect(parentOf(named("build transaction"))).toBe("transaction on the chain");
    expect(parentOf(named("execute transaction"))).toBe("transaction on the chain");
    expect(parentOf(named("settle sign"))).toBe("tss.v1.Signing/SubmitSign");
    expect(named("submit sign").attributes).toMatchObject({ "tss.transaction.outcome": "landed" });
    const written = spans.filter(({ name }) => name.includes("UPDATE sign_request")).map(parentOf);
    expect(written).toContain("settle sign");
  });

  it("has no span without its parent", () => {
    expect(spans.map(parentOf)).not.toContain("nobody");
  });

  it("names the service, and sends the headers that the receiver asks for", () => {
    expect(named("settle sign").resource).toMatchObject({ "service.name": "signing-under-test" });
    expect(receiver.header("x-team")).toBe("signing team");
  });

  it("has its trace id in the log line of each call, and in the exemplars of the metrics", () => {
    const line = service.log.find((text) => text.includes("Signing/SubmitSign"));
    expect(JSON.parse(line ?? "{}")).toMatchObject({
      msg: "call",
      code: "ok",
      traceId: CALLER.traceId,
      projectId: expect.any(String),
      apiKeyId: expect.any(String),
      address: "127.0.0.1",
    });
    expect(scraped.openMetrics).toMatch(
      new RegExp(
        `^service_request_duration_seconds_bucket\\{.*SubmitSign.*# \\{trace_id="${CALLER.traceId}"`,
        "m",
      ),
    );
    expect(scraped.text).not.toContain("trace_id");
  });
});

describe("an onboarding with a caller's traceparent", () => {
  // Either a reader or the settler may see the network's result first.
  it("is one trace, from its calls to the transactions that they cause", () => {
    const names = receiver.spans
      .filter(({ traceId }) => traceId === ONBOARDING_TRACE)
      .map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["submit register", "submit dkg", "submit accept"]));
  });
});

describe("traces", () => {
  it("begin at a call that has no valid traceparent, and are not recorded when the caller does not record them", () => {
    const roots = receiver.spans.filter(({ name }) => name === "tss.v1.Billing/GetPricing");
    expect(roots.map(({ parentSpanId }) => parentSpanId)).toEqual([undefined, undefined]);
    expect(receiver.spans.map(({ traceId }) => traceId)).not.toContain(UNSAMPLED_TRACE);
  });

  it("contain neither keys nor messages", () => {
    const sent = receiver.bodies.join("\n");
    expect(sent).not.toContain(service.access.apiKey);
    expect(sent).not.toContain(MESSAGE);
    expect(sent).not.toContain(Buffer.from(MESSAGE).toString("base64"));
    expect(sent).not.toContain(Buffer.from(MESSAGE).toString("hex"));
  });
});
