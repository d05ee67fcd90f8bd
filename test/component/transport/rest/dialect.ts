/** A point on which an implementation behind the vectors differs from this one. */
export interface DialectChoice {
  readonly choice: string;
  /** The authority: `google/api/http.proto` if it is explicit, otherwise the stricter reading. */
  readonly reason: string;
  /** The vectors that differ, by their names in the test. */
  readonly differs: readonly string[];
}

const BY_PROTO = "the comments of google/api/http.proto say so";

/** Every difference between this transcoder and the vectors. `docs/transcoding.md` describes them. */
export const DIALECT: readonly DialectChoice[] = [
  {
    choice: "variables do not nest",
    reason: BY_PROTO,
    differs: [
      "vanguard template /my%2fcool-blog~about%2Cstuff%5Bwat%5D/{var={abc=%2F%2A}/{def=%2F%2A/**}}:baz",
      "vanguard template /foo/bob/{book_id={author}/{isbn}/*}/details",
      "vanguard template /foo/blah/{longest_var={long_var.a={medium.a={short.aa}/*/{short.ab}/foo}/*}/{long_var.b={medium.b={short.ba}/*/{short.bb}/foo}/{last=**}}}:details",
      "vanguard path /foo/bob/bar/baz/123/details",
      "vanguard path /foo/blah/A/B/C/foo/D/E/F/G/foo/H/I/J/K/L/M:details",
      "vanguard path /percent_encoding/A%2Fb/suffix",
    ],
  },
  {
    choice: "nothing but a verb follows **",
    reason: BY_PROTO,
    differs: [
      "httpjson template /a/{b=c/**}/d/e",
      "httpjson template /a/{b=c/**/d}/e",
      "httpjson template /a/{b=c/**/d}/e:verb",
      "httpjson template /{x.y.z=a/**/b}",
      "httpjson template /{x.y.z=a/**/b}/c/d",
      "httpjson template /{x.y.z=a/**/b}:custom",
      "httpjson template /{x.y.z=a/**/b}/c/d:custom",
      "VariableBindings /alpha/dog/beta/eat/bones/gamma",
      "VariableBindings /foo/bar/a/b",
      "PercentEscapesNotUnescapedForMultiSegment2 /a/p/foo%20foo/q/bar%2Fbar+/c",
      "VariableBindingsWithCustomVerb /foo/bar/baz/b:verb",
      "VariableBindingsWithCustomVerb /g/foo/bar/h:verb",
      "ConstantSuffixesWithVariable /a/b/world/c/z",
      "ConstantSuffixesWithVariable /a/b/world/c/y/z",
      "ConstantSuffixesWithVariable /c/hello/d/esp/world/e",
      "ConstantSuffixesWithVariable /c/hola/d/esp/mundo/e:verb",
      "ConstantSuffixesWithVariable /f/foo/bar/baz/g",
      "ConstantSuffixesWithVariable /f/foo/bar/baz/g:verb",
      "ConstantSuffixesWithVariable /a/b/foo/y/z/bar/baz/foo",
      "ConstantSuffixesWithVariable /a/b/foo/bar/baz/y/z/foo",
      "CustomVerbMatches /other/bar/foo/const:verb",
    ],
  },
  {
    choice: "** stands for no segment, too",
    reason: BY_PROTO,
    differs: ["vanguard path /foo/bar/baz/123", "vanguard path /trailing:slash"],
  },
  {
    choice: "%2f in a variable of several segments stays as it was written",
    reason: BY_PROTO,
    differs: ["vanguard path /foo/bar/baz/%2f/%2A/%2f"],
  },
  {
    choice: "a colon that begins no verb belongs to the text",
    reason: "otherwise a route added later would change what the paths of another one mean",
    differs: ["MatchUnregisteredCustomVerb /person/jason:other"],
  },
  {
    choice: "a second route with the same method and path is an error",
    reason: "http.proto is silent; it is a mistake, and nothing is served before it is mended",
    differs: ["LookupSilentlyFailsOnDuplicate /a/b", "RegisterFailsOnDuplicateIfOptIn /a/b"],
  },
  {
    choice: "+ in a query is a space",
    reason: "http.proto is silent; URLSearchParams and HTML forms write it so",
    differs: ["QueryParameterNotUnescapePlus /a?x=Hello+world&y=%2B+%20"],
  },
  {
    choice: "no query parameter is ignored",
    reason: "a parameter that is not known is refused, and credentials belong in headers",
    differs: [
      "VariableBindingsWithQueryParamsAndSystemParams /a/hello/b?y=world&api_key=secret",
      "VariableBindingsWithQueryParamsAndSystemParams /a/hello/b?key=secret&y=world",
    ],
  },
  {
    choice: "the text of a string wrapper is its value",
    reason: "a string field takes quotes as they are, and wrapping it changes only its presence",
    differs: ['string_value_wrapper="hello world"'],
  },
  {
    choice: "null is the name of no enum value",
    reason: "a parameter that is not meant is left out",
    differs: ["enum_value=null"],
  },
];
