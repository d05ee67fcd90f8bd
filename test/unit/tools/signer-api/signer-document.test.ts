import { readFileSync } from "node:fs";
import { getOption } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { http } from "../../../../gen/proto/google/api/annotations_pb.ts";
import { Signer } from "../../../../gen/proto/tss/signer/v1/signer_pb.ts";
import { faultsOf } from "../../../support/repository/check-openapi.ts";

const document = JSON.parse(
  readFileSync(new URL("../../../../gen/signer-openapi.json", import.meta.url), "utf8"),
) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
};
/** Routes that are not RPCs. */
const PLAIN = ["/openapi.json", "/v1/signer/health"];

describe("the signer's OpenAPI document", () => {
  it("is valid according to other projects' validators", async () => {
    const faults = await faultsOf(document);
    // A caller of these routes cannot make a mistake, so they have no 4xx reply.
    const expected = PLAIN.map((path) => `operation-4xx-response at #/paths/${path.replaceAll("/", "~1")}/`);
    expect(faults.filter((fault) => !expected.some((start) => fault.startsWith(start)))).toEqual([]);
  });

  it("has each method of the contract at its route, and nothing else", () => {
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([verb, { operationId }]) => `${verb} ${path} ${operationId}`),
    );
    const routes = Signer.methods.map((method) => {
      const { pattern } = getOption(method, http);
      return `${pattern.case} ${String(pattern.value)} ${method.localName}`;
    });
    const plain = ["get /openapi.json getOpenApi", "get /v1/signer/health getHealth"];
    expect(described.sort()).toEqual([...routes, ...plain].sort());
  });
});
