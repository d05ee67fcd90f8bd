import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { type VerifyWebhookArgs, verifyWebhook } from "../../../../src/client/sdk/calls/verify-webhook.ts";
import { TssError } from "../../../../src/client/sdk/errors.ts";
import { Secret } from "../../../../src/service/platform/telemetry/secret.ts";
import { createEndpointSecrets, showPublicKey } from "../../../../src/service/webhooks/endpoint-secret.ts";

const secrets = createEndpointSecrets(new Secret("5e".repeat(32)));
const name = { id: "01a21ed8-cf30-7713-b362-8f6b4177a0e3", number: 1 };
const secret = secrets.show(name);
const publicKey = showPublicKey(secrets.publicKey(name));
const now = new Date(1_790_000_000_000);
const timestamp = now.getTime() / 1_000;
const body = '{"type":"sign.completed","timestamp":"2026-09-21T14:13:20.000Z","data":{"subject":"é"}}';
const id = "e1";

/** A request that the service signs with these secrets. */
const signedBy = (...names: (typeof name)[]) => ({
  "webhook-id": id,
  "webhook-timestamp": String(timestamp),
  "webhook-signature": secrets.sign(names, { id, timestamp, body }),
});

function reasonOf(args: Partial<VerifyWebhookArgs>): string {
  try {
    verifyWebhook({ body, headers: signedBy(name), now, ...args });
    return "accepted";
  } catch (error) {
    return error instanceof TssError ? `${error.reason}: ${error.message}` : String(error);
  }
}

describe("verifyWebhook", () => {
  it("accepts what the package standardwebhooks signs, and that package accepts what the service signs", () => {
    const theirs = new Webhook(secret).sign(id, now, body);
    const headers = { "webhook-id": id, "webhook-timestamp": String(timestamp), "webhook-signature": theirs };
    expect(verifyWebhook({ body, headers, secret, now })).toEqual({
      id,
      sentAt: now,
      type: "sign.completed",
      timestamp: "2026-09-21T14:13:20.000Z",
      data: { subject: "é" },
    });
    const recent = Math.floor(Date.now() / 1_000);
    const ours = secrets.sign([name], { id, timestamp: recent, body });
    const fresh = { "webhook-id": id, "webhook-timestamp": String(recent), "webhook-signature": ours };
    expect(new Webhook(secret).verify(body, fresh)).toMatchObject({ type: "sign.completed" });
  });

  it.each([
    ["the secret", { secret }],
    ["the public key", { publicKey }],
  ])("reads a message with %s, its headers in any form and its body as bytes", (_by, by) => {
    const headers = signedBy(name);
    expect(reasonOf({ ...by })).toBe("accepted");
    expect(reasonOf({ ...by, headers: new Headers(headers) })).toBe("accepted");
    expect(reasonOf({ ...by, body: new TextEncoder().encode(body) })).toBe("accepted");
  });

  it("accepts each secret of a rotation", () => {
    const headers = signedBy({ ...name, number: 2 }, name);
    for (const number of [1, 2]) {
      expect(reasonOf({ headers, secret: secrets.show({ ...name, number }) })).toBe("accepted");
      const key = showPublicKey(secrets.publicKey({ ...name, number }));
      expect(reasonOf({ headers, publicKey: key })).toBe("accepted");
    }
  });

  it.each([
    ["a body that was changed", { body: `${body} ` }],
    ["another id", { headers: { ...signedBy(name), "webhook-id": "e2" } }],
    ["another time", { headers: { ...signedBy(name), "webhook-timestamp": String(timestamp + 1) } }],
    ["a signature of another version", { headers: { ...signedBy(name), "webhook-signature": "v2,AAAA" } }],
    ["no signature", { headers: { ...signedBy(name), "webhook-signature": "v1, v1a," } }],
    ["the signature of another secret", { headers: signedBy({ ...name, number: 2 }) }],
  ])("refuses %s", (_what, change) => {
    expect(reasonOf({ secret, ...change })).toBe("WEBHOOK_INVALID: no signature fits");
    expect(reasonOf({ publicKey, ...change })).toBe("WEBHOOK_INVALID: no signature fits");
  });

  it("never takes a signature of one kind for one of the other", () => {
    const [v1, v1a] = signedBy(name)["webhook-signature"].split(" ");
    const only = (signature: string) => ({ ...signedBy(name), "webhook-signature": signature });
    expect(reasonOf({ secret, headers: only(v1a!) })).toBe("WEBHOOK_INVALID: no signature fits");
    expect(reasonOf({ publicKey, headers: only(v1!) })).toBe("WEBHOOK_INVALID: no signature fits");
  });

  it.each([-301_000, 301_000])("refuses a replay: a message whose time differs by %i ms", (differenceMs) => {
    const late = new Date(now.getTime() + differenceMs);
    expect(reasonOf({ secret, now: late })).toBe(
      "WEBHOOK_INVALID: the message is too old, or its time is in the future",
    );
    expect(reasonOf({ secret, now: late, toleranceSeconds: 302 })).toBe("accepted");
  });

  it.each(["webhook-id", "webhook-timestamp", "webhook-signature"])(
    "names the missing header %s",
    (header) => {
      const { [header as "webhook-id"]: _, ...headers } = signedBy(name);
      expect(reasonOf({ secret, headers })).toBe(`WEBHOOK_INVALID: the header ${header} is missing`);
    },
  );

  it("bounds the signatures that it tries", () => {
    const headers = { ...signedBy(name), "webhook-signature": Array(17).fill("v1,AAAA").join(" ") };
    expect(reasonOf({ secret, headers })).toBe("WEBHOOK_INVALID: there are too many signatures");
  });

  it.each([
    ["no secret", {}, "pass either secret or publicKey"],
    ["both", { secret, publicKey }, "pass either secret or publicKey"],
    ["a secret of another form", { secret: "5e" }, "secret: must be whsec_ and base64"],
    [
      "an empty secret, with which everyone could sign",
      { secret: "whsec_" },
      "secret: must be whsec_ and base64",
    ],
    ["a secret as a public key", { publicKey: secret }, "publicKey: must be whpk_ and base64"],
    ["a short public key", { publicKey: "whpk_AAAA" }, "publicKey: must be whpk_ and 32 bytes in base64"],
  ])("refuses %s", (_what, args, message) => {
    expect(reasonOf(args)).toBe(`VALIDATION: ${message}`);
  });
});
