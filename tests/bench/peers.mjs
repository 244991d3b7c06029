// Peers that run in Node: node peers.mjs MODE FILE [CONTRACT]; run where node_modules has what they need.
//   parse, ajv (compiled at start), standalone (code generated before), generate (writes that code), agui
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(path.join(process.cwd(), "x.js"));
const [, , mode, file, contractFile] = process.argv;

function compilers(options) {
  const Ajv = require("ajv/dist/2020").default;
  const contract = JSON.parse(fs.readFileSync(contractFile, "utf8"));
  const ajv = new Ajv({ strict: false, schemas: contract.schemas, ...options });
  require("ajv-formats").default(ajv);
  for (const [type, ref] of Object.entries(contract.types)) ajv.addSchema({ $id: "t:" + type, $ref: ref });
  return [ajv, Object.keys(contract.types)];
}

// What a line is: events of the one protocol name their type at the top, those of the other one level deeper.
const kindOf = (line) => (line.record ? "record:" + line.record : line.type ?? line.event?.kind);

// Types as names of functions, and back.
const SIGNS = { ".": "$p", "-": "$d", ":": "$c" };
const nameOf = (type) => type.replace(/[.:-]/g, (sign) => SIGNS[sign]);
const typeOf = (name) => Object.entries(SIGNS).reduce((type, [sign, code]) => type.replaceAll(code, sign), name);

function* lines() {
  const fd = fs.openSync(file, "r"), buffer = Buffer.allocUnsafe(1 << 20);
  let tail = Buffer.alloc(0), size;
  while ((size = fs.readSync(fd, buffer, 0, buffer.length, null)) > 0) {
    const block = Buffer.concat([tail, buffer.subarray(0, size)]);
    let start = 0, end;
    while ((end = block.indexOf(10, start)) >= 0) {
      yield JSON.parse(block.toString("utf8", start, end));
      start = end + 1;
    }
    tail = Buffer.from(block.subarray(start));
  }
}

let seen = 0, bad = 0;
if (mode === "generate") {
  const [ajv, types] = compilers({ code: { source: true } });
  const names = Object.fromEntries(types.map((type) => [nameOf(type), "t:" + type]));
  fs.writeFileSync(file, require("ajv/dist/standalone").default(ajv, names));
} else if (mode === "agui") {
  const { verifyEvents } = require("@ag-ui/client"), { from } = require("rxjs");
  verifyEvents(false)(from(lines())).subscribe({ next: () => seen++, error: () => bad++ });
} else {
  let check = () => true;
  if (mode === "standalone") {
    const code = require(path.resolve(contractFile));
    const known = new Map(Object.entries(code).map(([name, test]) => [typeOf(name), test]));
    check = (event) => known.get(kindOf(event))?.(event) ?? false;
  } else if (mode === "ajv") {
    const [ajv, types] = compilers({});
    const known = new Map(types.map((type) => [type, ajv.getSchema("t:" + type)]));
    check = (event) => known.get(kindOf(event))?.(event) ?? false;
  }
  for (const event of lines()) {
    seen++;
    if (!check(event)) bad++;
  }
}
if (mode !== "generate") console.log(JSON.stringify({ seen, bad }));
