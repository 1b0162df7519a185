/* test_json_errors.c - every error of JSON lines: line, key and what was
 * expected; and nothing worse, whatever the input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "prng.h"
#include "text_diags.h"

static const struct {
  const char *text, *errors;
} cases[] = {
    {"{\"kind\":\"insn\"}\n",
     "1: kind: expected \"kernel\" on the first line, found \"insn\"\n"},
    {"\n", "1: expected a line of kind \"kernel\"\n"},
    {"[]\n", "1: expected an object\n"},
    {"{\"kind\":\"kernel\"}\n", "1: isa: expected a string, found nothing\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"frob\"}\n",
     "1: isa: expected a known instruction set, found \"frob\"\n"},
    {"{\"kind\":\"kernel\",\"isa\":3}\n",
     "1: isa: expected a string, found 3\n"},
    {"{\"kind\":\"kernel\",\"schema\":2,\"isa\":\"tile64\"}\n",
     "1: schema: expected 1, found 2\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"registers\":32}\n",
     "1: registers: expected 64, found 32\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"bytes\":{\"sbuf\":1}}\n",
     "1: bytes.sbuf: expected 196608, found 1\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"bytes\":3}\n",
     "1: bytes: expected an object, found 3\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"isa\":\"tile64\"}\n",
     "1:37: JSON: duplicate object key near '\"isa\"'\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"name\":\"x\"\n",
     "1:42: JSON: '}' expected near end of file\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"engines\":[\"frob\"]}\n",
     "1: engines: expected an engine's name, found \"frob\"\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"engines\":\"sp\"}\n",
     "1: engines: expected an array, found \"sp\"\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"order\":{\"frob\":\"none\"}}"
     "\n",
     "1: order: 'frob' is no engine of tile64\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"order\":{\"sp\":\"frob\"}}\n",
     "1: order.sp: expected hidden, none or full, found \"frob\"\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"owned_semaphores\":[1]}\n",
     "1: owned_semaphores[1]: expected an integer in 0..255, found nothing\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"owned_semaphores\":[1,256]}\n",
     "1: owned_semaphores[1]: expected an integer in 0..255, found 256\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"queues\":[{\"name\":\"q\"}]}"
     "\n",
     "1: queues[0].engine: expected an engine's name, found nothing\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"queues\":[{\"name\":\"\",\"e"
     "ngine\":\"sp\"}]}\n",
     "1: queues[0].name: the name is empty\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"queues\":[{\"name\":\"q\",\""
     "engine\":\"sp\"},{\"name\":\"q\",\"engine\":\"sp\"}]}\n",
     "1: queues[1].name: queue 'q' is already defined\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"queues\":[5]}\n",
     "1: queues[0]: expected an object, found 5\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"tensors\":[{\"name\":\"x\","
     "\"space\":\"frob\"}]}\n",
     "1: tensors[0].space: expected dram, sbuf or psum, found \"frob\"\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"tensors\":[{\"name\":\"x\","
     "\"space\":\"dram\",\"dtype\":\"f99\",\"role\":\"input\"}]}\n",
     "1: tensors[0].dtype: expected a dtype, found \"f99\"\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"tensors\":[{\"name\":\"x\","
     "\"space\":\"dram\",\"dtype\":\"f32\",\"role\":\"x\"}]}\n",
     "1: tensors[0].role: expected input, output or scratch, found \"x\"\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"tensors\":[{\"name\":\"x\","
     "\"space\":\"dram\",\"dtype\":\"f32\",\"role\":\"input\"}]}\n",
     "1: tensors[0].offset: expected an integer in 0..9223372036854775807, f"
     "ound nothing\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"tensors\":[{\"name\":\"x\","
     "\"space\":\"sbuf\",\"dtype\":\"f32\",\"role\":\"input\",\"offset\":0}]"
     "}\n",
     "1: tensors[0].part: expected [first partition, count], found nothing\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"tensors\":[{\"name\":\"x\","
     "\"space\":\"dram\",\"dtype\":\"f32\",\"role\":\"input\",\"offset\":0,"
     "\"shape\":[1,-1]}]}\n",
     "1: tensors[0].shape[1]: expected an integer in 0..4294967295, found -1"
     "\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"tensors\":[{\"name\":\"x\","
     "\"space\":\"dram\",\"dtype\":\"f32\",\"role\":\"input\",\"offset\":0,"
     "\"shape\":[1,1,1,1,1,1,1,1,1]}]}\n",
     "1: tensors[0].shape: expected at most 8 dimensions\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"tensors\":[{\"name\":\"x\","
     "\"space\":\"dram\",\"dtype\":\"f32\",\"role\":\"input\",\"offset\":0,"
     "\"range\":[3,2]}]}\n",
     "1: tensors[0].range[1]: expected an integer in 3..2147483647, found 2\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"tensors\":[{\"name\":\"x\","
     "\"space\":\"dram\",\"dtype\":\"f32\",\"role\":\"input\",\"offset\":0,"
     "\"data\":\"A\"}]}\n",
     "1: tensors[0].data: expected base64, found \"A\"\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"tensors\":[{\"name\":\"x\","
     "\"space\":\"dram\",\"dtype\":\"f32\",\"role\":\"input\",\"offset\":0},"
     "{\"name\":\"x\"}]}\n",
     "1: tensors[1].name: tensor 'x' is already defined\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"files\":[3]}\n",
     "1: files: expected a name, found 3\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\"}\n"
     "{\"kind\":\"frob\"}\n"
     "3\n"
     "{\"kind\":\"label\",\"engine\":\"sp\",\"index\":3,\"name\":\"x\"}\n"
     "{\"kind\":\"label\",\"engine\":\"sp\",\"index\":0,\"name\":\"x\"}\n"
     "{\"kind\":\"label\",\"engine\":\"sp\",\"index\":0,\"name\":\"x\"}\n"
     "{\"kind\":\"section\"}\n"
     "{\"kind\":\"section\",\"name\":\"a\"}\n"
     "{\"kind\":\"section\",\"name\":\"a\",\"type\":8,\"data\":\"AAAA\"}\n"
     "{\"kind\":\"section\",\"name\":\"a\",\"type\":1,\"data\":\"AAA\"}\n"
     "{\"kind\":\"section\",\"name\":\"a\",\"type\":1,\"align\":\"x\"}\n",
     "2: kind: expected insn, label or section, found \"frob\"\n"
     "3:1: JSON: '[' or '{' expected near '3'\n"
     "4: index: expected 0, found 3\n"
     "6: name: label 'x' is already defined\n"
     "7: name: expected a name, found nothing\n"
     "8: type: expected an integer in 0..4294967295, found nothing\n"
     "9: data: a section of type 8 has none\n"
     "10: data: expected base64, found \"AAA\"\n"
     "11: align: expected an integer in -9223372036854775808..92233720368547"
     "75807, found \"x\"\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"engines\":[\"sp\"],\"queues"
     "\":[{\"name\":\"q\",\"engine\":\"sp\"}],\"tensors\":[{\"name\":\"x\","
     "\"space\":\"dram\",\"dtype\":\"f32\",\"role\":\"input\",\"offset\":0}]"
     "}\n"
     "{\"kind\":\"insn\"}\n"
     "{\"kind\":\"insn\",\"engine\":\"act\",\"op\":\"nop\"}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\"}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"frob\"}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"tt\"}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"index\":9,\"op\":\"nop\"}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\",\"class\":\"load\""
     "}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\",\"channel\":\"q\"}"
     "\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"halt\",\"channel\":\"sp"
     "\"}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"qnop\"}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"qnop\",\"channel\":\"sp"
     "\"}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\",\"labels\":[3]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\",\"labels\":[\"a\","
     "\"a\"]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\",\"source\":{\"file"
     "\":\"k.s\"}}\n",
     "2: engine: expected an engine's name, found nothing\n"
     "3: engine: expected one of the first line's engines, found \"act\"\n"
     "4: op: expected a string, found nothing\n"
     "5: op: expected an instruction, found \"frob\"\n"
     "6: op: tt is no instruction of sp\n"
     "7: index: expected 3, found 9\n"
     "8: class: expected datapath, found \"load\"\n"
     "9: channel: expected sp, found \"q\"\n"
     "10: channel: expected null, found \"sp\"\n"
     "11: channel: expected a string, found nothing\n"
     "12: channel: expected a queue of the first line, found \"sp\"\n"
     "13: labels: expected a name, found 3\n"
     "14: labels: label 'a' is already defined\n"
     "15: source.line: expected an integer in 1..4294967295, found nothing\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"engines\":[\"sp\"],\"queues"
     "\":[{\"name\":\"q\",\"engine\":\"sp\"}],\"tensors\":[{\"name\":\"x\","
     "\"space\":\"dram\",\"dtype\":\"f32\",\"role\":\"input\",\"offset\":0}]"
     "}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\",\"source\":{\"file"
     "\":\"k.s\",\"line\":0}}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\",\"source\":{\"file"
     "\":\"k.s\",\"line\":1,\"index\":5}}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\",\"wait\":3}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\",\"wait\":{\"sem\":"
     "256}}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\",\"wait\":{\"sem\":"
     "1,\"cmp\":\"!=\"}}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\",\"wait\":{\"sem\":"
     "1,\"cmp\":\">=\"}}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\",\"wait\":{\"sem\":"
     "1,\"cmp\":\">=\",\"value\":{}}}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\",\"wait\":{\"sem\":"
     "1,\"cmp\":\">=\",\"value\":{\"reg\":64}}}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"sync\",\"id\":0,\"wait\""
     ":{\"sem\":1,\"cmp\":\">=\",\"value\":{\"imm\":0}}}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\",\"update\":{\"sem"
     "\":1,\"op\":\"frob\"}}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\",\"update\":{\"sem"
     "\":1,\"op\":\"inc\",\"value\":2}}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\",\"update\":{\"sem"
     "\":1,\"op\":\"add\"}}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\",\"update\":{\"sem"
     "\":1,\"op\":\"add\",\"value\":99999}}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"halt\",\"update\":{\"sem"
     "\":1,\"op\":\"inc\"}}\n",
     "2: source.line: expected an integer in 1..4294967295, found 0\n"
     "3: source.index: expected an index into \"files\", found 5\n"
     "4: wait: expected an object, found 3\n"
     "5: wait.sem: expected an integer in 0..255, found 256\n"
     "6: wait.cmp: expected one of >= == > <= <, found \"!=\"\n"
     "7: wait.value: expected {\"reg\":N} or {\"imm\":N}, found nothing\n"
     "8: wait.value.imm: expected an integer in -2147483648..2147483647, fou"
     "nd nothing\n"
     "9: wait.value.reg: expected an integer in 0..63, found 64\n"
     "10: wait: sync takes none\n"
     "11: update.op: expected one of inc dec add sub set, found \"frob\"\n"
     "12: update.value: expected 1, found 2\n"
     "13: update.value: expected an integer in -2147483648..2147483647, foun"
     "d nothing\n"
     "14: nop: value of the update: 99999 is not in -32768..32767\n"
     "15: update: halt takes none\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"engines\":[\"sp\"],\"queues"
     "\":[{\"name\":\"q\",\"engine\":\"sp\"}],\"tensors\":[{\"name\":\"x\","
     "\"space\":\"dram\",\"dtype\":\"f32\",\"role\":\"input\",\"offset\":0}]"
     "}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\",\"early\":3}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"ld\",\"operands\":[]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"ld\",\"dst\":64,\"operan"
     "ds\":[]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"ld\",\"dst\":1,\"operand"
     "s\":[]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"ld\",\"dst\":1,\"operand"
     "s\":[3]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"ld\",\"dst\":1,\"operand"
     "s\":[{\"role\":\"w\",\"space\":\"dram\",\"dtype\":\"f32\"}]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"ld\",\"dst\":1,\"operand"
     "s\":[{\"space\":\"dram\",\"dtype\":\"f32\",\"acc\":true}]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"ld\",\"dst\":1,\"operand"
     "s\":[{\"space\":\"dram\",\"dtype\":\"f32\"}]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"ld\",\"dst\":1,\"operand"
     "s\":[{\"space\":\"dram\",\"dtype\":\"f32\",\"part\":[0,1]}]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"ld\",\"dst\":1,\"operand"
     "s\":[{\"space\":\"dram\",\"dtype\":\"f32\",\"part\":[0],\"offset\":{}}"
     "]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"ld\",\"dst\":1,\"operand"
     "s\":[{\"space\":\"dram\",\"dtype\":\"f32\",\"part\":[0,1],\"offset\":{"
     "\"imm\":1.5}}]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"ld\",\"dst\":1,\"operand"
     "s\":[{\"space\":\"dram\",\"dtype\":\"f32\",\"part\":[0,1],\"offset\":{"
     "\"imm\":1,\"reg\":99}}]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"ld\",\"dst\":1,\"operand"
     "s\":[{\"space\":\"dram\",\"dtype\":\"f32\",\"part\":[0,1],\"offset\":{"
     "},\"dims\":[[4,4]]}]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"ld\",\"dst\":1,\"operand"
     "s\":[{\"space\":\"dram\",\"dtype\":\"f32\",\"part\":[0,1],\"offset\":{"
     "},\"tensor\":\"y\"}]}\n",
     "2: early: expected true or false, found 3\n"
     "3: dst: expected an integer in 0..63, found nothing\n"
     "4: dst: expected an integer in 0..63, found 64\n"
     "5: operands: expected 1 operands, found an array\n"
     "6: operands[0]: expected an object, found 3\n"
     "7: operands[0].role: expected r, found \"w\"\n"
     "8: operands[0].acc: src does not accumulate\n"
     "9: operands[0].part: expected [first, count], found nothing\n"
     "10: operands[0].offset: expected {\"imm\":BYTES,\"reg\":N or null}, fo"
     "und nothing\n"
     "11: operands[0].part[1]: expected an integer in 0..65535, found nothin"
     "g\n"
     "12: operands[0].offset.imm: expected an integer in -922337203685477580"
     "8..9223372036854775807, found 1.5\n"
     "13: operands[0].offset.reg: expected an integer in 0..63, found 99\n"
     "14: operands[0].dims: expected at most 0 dimensions\n"
     "15: operands[0].tensor: expected a tensor of the first line, found \"y"
     "\"\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"engines\":[\"sp\"],\"queues"
     "\":[{\"name\":\"q\",\"engine\":\"sp\"}],\"tensors\":[{\"name\":\"x\","
     "\"space\":\"dram\",\"dtype\":\"f32\",\"role\":\"input\",\"offset\":0}]"
     "}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"ld\",\"dst\":1,\"operand"
     "s\":[{\"space\":\"dram\",\"dtype\":\"f32\",\"part\":[0,1],\"offset\":{"
     "\"imm\":-4}}]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"dma\",\"channel\":\"q\","
     "\"operands\":[{\"space\":\"dram\",\"dtype\":\"f32\",\"part\":[0,1],\"o"
     "ffset\":{},\"dims\":[[4]]},{}]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"dma\",\"channel\":\"q\","
     "\"operands\":[{\"space\":\"dram\",\"dtype\":\"f32\",\"part\":[0,1],\"o"
     "ffset\":{},\"dims\":[[4,{\"reg\":64}]]},{}]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"dma\",\"channel\":\"q\","
     "\"operands\":[{\"space\":\"dram\",\"dtype\":\"f32\",\"part\":[0,1],\"o"
     "ffset\":{},\"dims\":[[4,\"x\"]]},{}]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"mov\",\"dst\":1}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"mov\",\"dst\":{\"reg\":1"
     "},\"a\":{\"imm\":4294967296}}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"sel\",\"dst\":1,\"a\":{"
     "\"imm\":0},\"b\":{\"imm\":0}}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"br\",\"target\":0}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"br\",\"cc\":\"frob\",\"t"
     "arget\":0}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"br\",\"cc\":\"always\"}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"br\",\"cc\":\"lt\",\"tar"
     "get\":0}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"br\",\"cc\":\"always\","
     "\"target\":0,\"reloc\":1}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"jump\",\"a\":{\"imm\":0}"
     ",\"targets\":[\"x\"]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"sync\"}\n",
     "2: ld: offset of src: -4 is not in 0..4294967295\n"
     "3: operands[0].dims[0]: expected [step, count], found an array\n"
     "4: operands[0].dims[0][1].reg: expected an integer in 0..63, found 64\n"
     "5: operands[0].dims[0][1]: expected an integer in 0..2147483647, found"
     " \"x\"\n"
     "6: a: expected {\"reg\":N} or {\"imm\":N}, found nothing\n"
     "7: a.imm: expected an integer in -2147483648..2147483647, found 429496"
     "7296\n"
     "8: cond: expected an integer in 0..63, found nothing\n"
     "9: cc: expected one of always eq ne lt le gt ge, found nothing\n"
     "10: cc: expected one of always eq ne lt le gt ge, found \"frob\"\n"
     "11: target: expected an integer in 0..67108864, found nothing\n"
     "12: a: expected {\"reg\":N} or {\"imm\":N}, found nothing\n"
     "13: reloc: expected true or false, found 1\n"
     "14: targets[0]: expected an integer in 0..67108864, found \"x\"\n"
     "15: id: expected an integer in -2147483648..2147483647, found nothing\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\",\"engines\":[\"sp\"],\"queues"
     "\":[{\"name\":\"q\",\"engine\":\"sp\"}],\"tensors\":[{\"name\":\"x\","
     "\"space\":\"dram\",\"dtype\":\"f32\",\"role\":\"input\",\"offset\":0}]"
     "}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"st\",\"operands\":[{\"sp"
     "ace\":\"dram\",\"dtype\":\"f32\",\"part\":[0,1],\"offset\":{}}]}\n"
     "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"st\",\"operands\":[{\"sp"
     "ace\":\"dram\",\"dtype\":\"f32\",\"part\":[0,1],\"offset\":{}}],\"regs"
     "\":[{\"name\":\"x\",\"reg\":3}]}\n",
     "2: regs: expected [{\"name\":\"value\",\"reg\":N}], found nothing\n"
     "3: regs[0].name: expected \"value\", found \"x\"\n"},
    {"{\"kind\":\"kernel\",\"isa\":\"tile64\"}\n"
     "{\"kind\":\"insn\",\"engine\":\"dve\",\"op\":\"memset\",\"operands\":["
     "{\"space\":\"sbuf\",\"dtype\":\"f32\",\"part\":[0,1],\"offset\":{}}],"
     "\"args\":{\"value\":1.5}}\n"
     "{\"kind\":\"insn\",\"engine\":\"dve\",\"op\":\"memset\",\"operands\":["
     "{\"space\":\"sbuf\",\"dtype\":\"f32\",\"part\":[0,1],\"offset\":{}}],"
     "\"value\":1,\"args\":{\"value\":2}}\n"
     "{\"kind\":\"insn\",\"engine\":\"act\",\"op\":\"act\",\"operands\":[{\""
     "space\":\"sbuf\",\"dtype\":\"f32\",\"part\":[0,1],\"offset\":{}},{\"sp"
     "ace\":\"sbuf\",\"dtype\":\"f32\",\"part\":[0,1],\"offset\":{}}],\"args"
     "\":{\"func\":\"frob\"}}\n"
     "{\"kind\":\"insn\",\"engine\":\"act\",\"op\":\"act\",\"operands\":[{\""
     "space\":\"sbuf\",\"dtype\":\"f32\",\"part\":[0,1],\"offset\":{}},{\"sp"
     "ace\":\"sbuf\",\"dtype\":\"f32\",\"part\":[0,1],\"offset\":{}}],\"args"
     "\":{\"func\":\"exp\"}}\n"
     "{\"kind\":\"insn\",\"engine\":\"act\",\"op\":\"act\",\"operands\":[{\""
     "space\":\"sbuf\",\"dtype\":\"f32\",\"part\":[0,1],\"offset\":{}},{\"sp"
     "ace\":\"sbuf\",\"dtype\":\"f32\",\"part\":[0,1],\"offset\":{}}],\"args"
     "\":{\"func\":\"exp\",\"scale\":\"x\"}}\n"
     "{\"kind\":\"insn\",\"engine\":\"act\",\"op\":\"act\",\"operands\":[{\""
     "space\":\"sbuf\",\"dtype\":\"f32\",\"part\":[0,1],\"offset\":{}},{\"sp"
     "ace\":\"sbuf\",\"dtype\":\"f32\",\"part\":[0,1],\"offset\":{}}],\"args"
     "\":{\"func\":\"exp\",\"scale\":1e39}}\n",
     "2: value: expected an integer, found 1.5\n"
     "3: args.value: differs from what stands beside args\n"
     "4: func: expected a name of this argument, found \"frob\"\n"
     "5: args: expected scale, found nothing\n"
     "6: scale: expected a 32-bit float (or \"nan\", \"inf\", \"-inf\", \"0f"
     "XXXXXXXX\"), found \"x\"\n"
     "7: scale: expected a 32-bit float (or \"nan\", \"inf\", \"-inf\", \"0f"
     "XXXXXXXX\"), found 1e+39\n"},
};
/* The status and every message must be as written. */
static void test_messages(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct diags d;
    enum nsr_status status;
    diags_of(true, cases[i].text, strlen(cases[i].text), &d, &status);
    if (strcmp(d.text, cases[i].errors) != 0)
      print_message("%s", cases[i].text);
    assert_string_equal(d.text, cases[i].errors);
    assert_int_equal(status, NSR_E_SYNTAX);
  }
}

static void test_not_text(void **state) {
  static const char nul[] = "{\"kind\":\"kernel\",\"isa\":\"til\\u0000e\"}";
  static const char bytes[] = "{\"kind\":\"kernel\",\"isa\":\"\xff\"}";
  struct diags d;
  enum nsr_status status;
  (void)state;
  diags_of(true, nul, strlen(nul), &d, &status);
  assert_int_equal(status, NSR_E_SYNTAX);
  assert_int_equal(d.errors, 1);
  diags_of(true, bytes, strlen(bytes), &d, &status);
  assert_int_equal(status, NSR_E_SYNTAX);
  assert_int_equal(d.errors, 1);
}

/* Errors without end come to an end. */
static void test_too_many_errors(void **state) {
  static char text[100000];
  struct diags d;
  enum nsr_status status;
  (void)state;
  strcpy(text, "{\"kind\":\"kernel\",\"isa\":\"tile64\"}\n");
  for (int i = 0; i < 3000; i++)
    strcat(text, "{\"kind\":\"x\"}\n");
  diags_of(true, text, strlen(text), &d, &status);
  assert_int_equal(status, NSR_E_SYNTAX);
  assert_int_equal(d.errors, 1001);
}

/* Correct lines with some bytes changed, removed or doubled. */
static void test_damaged(void **state) {
  static const char text_form[] =
      ".isa tile64\n.queue q0 sp\n.tensor x dram f32 [8, 4] at 0 input words "
      "1\n"
      ".tensor t sbuf f32 [8, 4] at 0:8, 64 scratch\n.engine sp\n"
      "l: dma q0, t[4*4], x+r3{8*16}[r2*4] ?s1>=r2 ^s2+=4\n"
      " st t, r5\n br.lt r1, 4, l !reloc\n sel r1, r2, r3, 4\n sync\n halt\n"
      ".engine act\n act t[4*4], t[4*4] func=exp scale=1.5 bias=nan\n"
      ".section \"s\"\n.hex \"00ff\"\n";
  struct prng r = prng_seed("json_errors damaged", 1);
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k;
  const char *good;
  size_t size;
  (void)state;
  assert_int_equal(nsr_assemble(ctx, "t.s", text_form, strlen(text_form), &k),
                   NSR_OK);
  assert_int_equal(nsr_to_json(ctx, k, &good, &size), NSR_OK);
  char *text = malloc(2 * size);
  assert_non_null(text);
  for (int i = 0; i < 3000; i++) {
    struct diags d;
    enum nsr_status status;
    size_t n = size;
    memcpy(text, good, n);
    for (int64_t c = prng_in(&r, 1, 4); c > 0; c--) {
      size_t at = (size_t)prng_in(&r, 0, (int64_t)n - 1);
      size_t len = (size_t)prng_in(&r, 0, (int64_t)(n - at) / 16);
      if (prng_in(&r, 0, 2) == 0) { /* cut */
        memmove(text + at, text + at + len, n - at - len);
        n -= len;
      } else if (prng_in(&r, 0, 1) && n + len < 2 * size) { /* double */
        memmove(text + at + len, text + at, n - at);
        n += len;
      } else { /* another byte */
        text[at] = good[prng_in(&r, 0, (int64_t)size - 1)];
      }
    }
    diags_of(true, text, n, &d, &status);
    assert_true(status == NSR_OK ? d.errors == 0
                                 : status == NSR_E_SYNTAX && d.errors > 0);
  }
  free(text);
  nsr_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_messages), cmocka_unit_test(test_not_text),
      cmocka_unit_test(test_too_many_errors), cmocka_unit_test(test_damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
