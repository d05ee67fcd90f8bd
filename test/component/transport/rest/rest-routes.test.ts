import path from "node:path";
import { describe, expect, it } from "vitest";
import { registerService } from "../../../../src/transport/calls/service-registration.ts";
import { createRestRouter } from "../../../../src/transport/rest/rest-routes.ts";
import { compileProto, Gallery } from "./gallery.ts";

const misfits = compileProto(path.join(import.meta.dirname, "misfits.proto"));

describe("a rule that does not fit its method stops the start:", () => {
  it.each([
    ["NoPattern", "it has no pattern"],
    ["UnknownVariable", "there is no field nope"],
    ["ListVariable", "the field list cannot be a variable of a path"],
    ["MapVariable", "the field inner.names cannot be a variable of a path"],
    ["MessageVariable", "the field inner cannot be a variable of a path"],
    ["UnknownBody", "there is no top-level field nope"],
    ["NestedBody", "there is no top-level field inner.text"],
    ["UnknownReply", "there is no top-level field nope"],
    ["MalformedTemplate", "a segment after '**' at 15"],
    ["SameTwice", "the route GET /a/{inner.text} already exists"],
    ["NestedBindings", "additional bindings nest"],
    ["ClientStream", "REST does not support client streams"],
  ])("%s", (name, why) => {
    const service = misfits.getService(`test.misfits.v1.${name}`);
    if (service === undefined) throw new Error("the proto has no such service");
    expect(() => createRestRouter([registerService(service, {})])).toThrow(
      `the google.api.http rule of test.misfits.v1.${name}/Call does not fit: ${why}`,
    );
  });
});

describe("the routes of two services", () => {
  it("do not overlap", () => {
    const service = registerService(Gallery, {});
    expect(() => createRestRouter([service])).not.toThrow();
    expect(() => createRestRouter([service, service])).toThrow("already exists");
  });
});
