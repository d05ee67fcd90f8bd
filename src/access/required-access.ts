import { type DescMethod, type DescService, getOption } from "@bufbuild/protobuf";
import { Access, access } from "../../gen/proto/tss/v1/options_pb.ts";
import type { Scope } from "./caller.ts";

/** Who may call a method. */
export type RequiredAccess =
  | { readonly kind: "public" }
  | { readonly kind: "admin" }
  | { readonly kind: "project"; readonly scope: Scope };

/** What the method's option `tss.v1.access` asks for. Throws when the method does not declare it. */
export function requiredAccess(method: DescMethod): RequiredAccess {
  switch (getOption(method, access)) {
    case Access.PUBLIC:
      return { kind: "public" };
    case Access.ONBOARD:
      return { kind: "project", scope: "onboard" };
    case Access.SIGN:
      return { kind: "project", scope: "sign" };
    case Access.READ:
      return { kind: "project", scope: "read" };
    case Access.BILLING:
      return { kind: "project", scope: "billing" };
    case Access.ADMIN:
      return { kind: "admin" };
    default:
      throw new Error(`${method.parent.typeName}/${method.name} does not declare who may call it`);
  }
}

/** Throws when a method of these services does not declare who may call it. To be called at start. */
export function checkAccessDeclared(services: readonly DescService[]): void {
  for (const service of services) for (const method of service.methods) requiredAccess(method);
}
