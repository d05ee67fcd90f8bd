import { TypeTagSerializer } from "@mysten/sui/bcs";
import { GrpcTypes } from "@mysten/sui/grpc";
import { RpcFailure, Status } from "../execution/failures.ts";
import {
  type FunctionTable,
  lookUpFunction,
  type MoveFunction,
  type Reference,
} from "../execution/move-function.ts";
import { PACKAGE_TYPE } from "../objects/object.ts";
import type { ObjectStore } from "../objects/object-store.ts";
import { parseAddress } from "../objects/sui-types.ts";
import { datatypesOf, type ModuleDatatypes } from "../wire/move-datatypes.ts";
import { type UnaryMethod, unary } from "../wire/node-methods.ts";

/**
 * Implements `sui.rpc.v2.MovePackageService`: packages, the signatures of the functions that this node executes, and the
 * datatypes of the packages whose bytecode it has: those that were published on it, and the Treasury that it starts with.
 * A module has no contents. Each package has one version.
 */
export function movePackageService(
  functions: FunctionTable,
  objects: Pick<ObjectStore, "get">,
): readonly UnaryMethod[] {
  const service = GrpcTypes.MovePackageService;
  return [
    unary(service, "GetPackage", GrpcTypes.GetPackageRequest, GrpcTypes.GetPackageResponse, (request) => ({
      package: getPackage(functions, objects, parseAddress(request.packageId, "package_id")),
    })),
    unary(
      service,
      "ListPackageVersions",
      GrpcTypes.ListPackageVersionsRequest,
      GrpcTypes.ListPackageVersionsResponse,
      ({ packageId, pageToken }) => {
        // The only page has no token.
        if (pageToken !== undefined && pageToken.length > 0)
          throw new RpcFailure(Status.InvalidArgument, "invalid page_token");
        const { storageId, version } = getPackage(functions, objects, parseAddress(packageId, "package_id"));
        return { versions: [{ packageId: storageId, version }] };
      },
    ),
    unary(service, "GetFunction", GrpcTypes.GetFunctionRequest, GrpcTypes.GetFunctionResponse, (request) => {
      const packageId = parseAddress(request.packageId, "package_id");
      const name = `${request.moduleName}::${request.name}`;
      const target = lookUpFunction(functions, packageId, name, (id) => objects.get(id)?.type);
      if (target === undefined)
        throw new RpcFailure(Status.NotFound, `Function ${packageId}::${name.slice(0, 150)} not found`);
      return { function: describe(target) };
    }),
    unary(service, "GetDatatype", GrpcTypes.GetDatatypeRequest, GrpcTypes.GetDatatypeResponse, (request) => {
      const packageId = parseAddress(request.packageId, "package_id");
      const name = `${packageId}::${request.moduleName}::${request.name}`;
      const datatype = packageDatatypes(functions, objects.get(packageId), packageId)
        .flatMap(({ datatypes }) => datatypes)
        .find(({ typeName }) => typeName === name);
      if (datatype !== undefined) return { datatype };
      // An unknown package is named first.
      getPackage(functions, objects, packageId);
      throw new RpcFailure(
        Status.NotFound,
        `Datatype ${name.slice(0, 220)} not found; this node has the bytecode of the Treasury alone`,
      );
    }),
  ];
}

/** Returns a package: one that this node starts with, or one that was published on it. */
function getPackage(
  functions: FunctionTable,
  objects: Pick<ObjectStore, "get">,
  packageId: string,
): GrpcTypes.Package & { storageId: string; version: bigint } {
  const stored = objects.get(packageId);
  const table =
    stored?.type === PACKAGE_TYPE ? (functions.packages?.functionsOf(packageId) ?? []) : functions;
  const modules = new Map<string, GrpcTypes.FunctionDescriptor[]>();
  for (const [, item] of table) {
    if (item.packageId !== packageId) continue;
    const described = modules.get(item.module) ?? [];
    described.push(describe(item));
    modules.set(item.module, described);
  }
  const datatypes = new Map(
    packageDatatypes(functions, stored, packageId).map(({ module, datatypes: own }) => [module, own]),
  );
  if (modules.size === 0) throw new RpcFailure(Status.NotFound, `Package ${packageId} not found`);
  return {
    storageId: packageId,
    originalId: packageId,
    version: stored?.version ?? FIRST_VERSION,
    modules: [...new Set([...modules.keys(), ...datatypes.keys()])].map((name) => ({
      name,
      datatypes: datatypes.get(name) ?? [],
      functions: modules.get(name) ?? [],
    })),
    typeOrigins: [],
    linkage: [],
  };
}

/** Returns the datatypes of a package whose bytecode this node has, and none for another one. */
function packageDatatypes(
  { packages }: FunctionTable,
  stored: { readonly type: string } | undefined,
  packageId: string,
): readonly ModuleDatatypes[] {
  const isKnown = stored?.type === PACKAGE_TYPE || packageId === packages?.firstPackageId;
  return isKnown ? (packages?.modules() ?? []).map((module) => datatypesOf(module, packageId)) : [];
}

const FIRST_VERSION = 1n;

type TypeTag = ReturnType<typeof TypeTagSerializer.parseFromStr>;

const BodyType = GrpcTypes.OpenSignatureBody_Type;

function describe(target: MoveFunction): GrpcTypes.FunctionDescriptor {
  return {
    name: target.name,
    visibility: GrpcTypes.FunctionDescriptor_Visibility.PUBLIC,
    isEntry: false,
    typeParameters: Array.from({ length: target.typeParameterCount }, () => ({
      constraints: [],
      isPhantom: false,
    })),
    parameters: target.parameters.map((parameter) => signature(parameter.type, parameter.reference)),
    returns: target.returns.map((type) => signature(type, "value")),
  };
}

function signature(type: string, reference: Reference): GrpcTypes.OpenSignature {
  const body = signatureBody(type);
  switch (reference) {
    case "value":
      return { body };
    case "immutable":
      return { body, reference: GrpcTypes.OpenSignature_Reference.IMMUTABLE };
    case "mutable":
      return { body, reference: GrpcTypes.OpenSignature_Reference.MUTABLE };
  }
}

function signatureBody(type: string): GrpcTypes.OpenSignatureBody {
  // The SDK parses types without parameters, so a struct that no package has stands for each.
  const closed = type.replaceAll(/\$(\d+)/g, (_, index: string) => `${PARAMETERS}::P${index}`);
  return tagBody(TypeTagSerializer.parseFromStr(closed, true));
}

const PARAMETERS = `0x${"f".repeat(64)}::parameters`;

function tagBody(tag: TypeTag): GrpcTypes.OpenSignatureBody {
  if ("vector" in tag) return { type: BodyType.VECTOR, typeParameterInstantiation: [tagBody(tag.vector)] };
  if ("struct" in tag) {
    const { address, module, name, typeParams } = tag.struct;
    if (`${address}::${module}` === PARAMETERS) {
      const typeParameter = Number(name.slice(1));
      return { type: BodyType.TYPE_PARAMETER, typeParameter, typeParameterInstantiation: [] };
    }
    return {
      type: BodyType.DATATYPE,
      typeName: `${address}::${module}::${name}`,
      typeParameterInstantiation: typeParams.map(tagBody),
    };
  }
  return { type: primitiveType(tag), typeParameterInstantiation: [] };
}

function primitiveType(tag: TypeTag): GrpcTypes.OpenSignatureBody_Type {
  if ("address" in tag) return BodyType.ADDRESS;
  if ("bool" in tag) return BodyType.BOOL;
  if ("u8" in tag) return BodyType.U8;
  if ("u16" in tag) return BodyType.U16;
  if ("u32" in tag) return BodyType.U32;
  if ("u64" in tag) return BodyType.U64;
  if ("u128" in tag) return BodyType.U128;
  return BodyType.U256;
}
