import { execFileSync } from "node:child_process";
import path from "node:path";
import { describe, expect, it } from "vitest";
import * as protos from "../../../gen/proto/tss/v1/signing_pb.ts";
import { grpcReference } from "../../../tools/site/grpc-reference.ts";
import { ROOT } from "../../support/repository/source-files.ts";

const buf = path.join(ROOT, "node_modules/.bin/buf");
const image = execFileSync(buf, ["build", "proto", "-o", "-#format=binpb"], {
  cwd: ROOT,
  maxBuffer: 2 ** 26,
});
const pages = new Map(grpcReference(image));

describe("the gRPC reference", () => {
  it("describes each call and each field of a service, with its comment", () => {
    const page = pages.get("grpc/signing.md") ?? "";
    for (const method of protos.Signing.methods) expect(page).toContain(`### ${method.name}\n`);
    for (const field of protos.SignRequestSchema.fields) expect(page).toContain(`| \`${field.name}\` |`);
    expect(page).toContain("Reserves a presign for one message and holds the price.");
    expect(page).toContain("- REST: `POST /v1/sign`");
  });

  it("links to types that it describes", () => {
    const anchors = new Set(
      [...pages].flatMap(([file, text]) =>
        [...text.matchAll(/^### (.+)$/gm)].map(
          ([, name = ""]) => `${path.basename(file)}#${name.toLowerCase().replaceAll(".", "")}`,
        ),
      ),
    );
    const links = [...pages].flatMap(([, text]) =>
      [...text.matchAll(/\]\(\.\/(?:grpc\/)?([\w-]+\.md#[^)]+)\)/g)].map(([, link = ""]) => link),
    );
    expect(links.length).toBeGreaterThan(100);
    expect(links.filter((link) => !anchors.has(link))).toEqual([]);
  });
});
