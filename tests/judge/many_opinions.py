"""usage: many_opinions.py ORACLE <PAIRS

What another judge (a program in Python: ORACLE A.json B.json [--trips N]; exit
0 equal, 1 different, 2 undecided, 3 the first one broken) says of pairs of
kernels (tests/mutants/judged_pairs.c prints them), beside what co-simulation
said; all in one interpreter. Where the two differ at first, both are asked with
more inputs. Prints what is left of differences and at last the sums; exit 1 if
there are any.
"""
import contextlib
import importlib.util
import io
import json
import os
import sys
import tempfile

FEW, MANY = 8, 60


def load(path):
    spec = importlib.util.spec_from_file_location('oracle', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ask(oracle, files, trips):
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = oracle.main([*files, '--trips', str(trips)])
    return code, said.getvalue()


def save(path, lines):
    with open(path, 'wb') as f:
        f.writelines(sys.stdin.buffer.readline() for _ in range(lines))


def show(name, ours, code, said):
    print(f'{name}: co-simulation says {ours}, the other judge {code}')
    told = [x for x in said.splitlines()
            if not x.startswith(('static', 'dynamic', 'note'))]
    for line in told[:4]:
        print('  | ' + line)
    sys.stdout.flush()


def main():
    oracle = load(sys.argv[1])
    accepted = mutants = wrong = objected = differ = 0
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, x) for x in ('a.json', 'b.json')]
        for head in sys.stdin.buffer:
            head = json.loads(head)
            for path, lines in zip(files, head['lines']):
                save(path, lines)
            ours = head['few']
            code, said = ask(oracle, files, FEW)
            if code != ours:
                ours = head['many']
                code, said = ask(oracle, files, MANY)
            if code != ours:
                differ += 1
                show(head['name'], ours, code, said)
            elif head['mutant']:
                mutants += 1
                wrong += ours
            else:
                accepted += not ours
                objected += ours
                if ours:
                    show(head['name'], ours, code, said)
            if (accepted + mutants) % 100 == 0:
                print(f'{accepted} accepted, {mutants} mutants agreed on, '
                      f'{differ} differ', file=sys.stderr)
    print(f'{accepted} rewritten kernels that both accept ({objected} to which '
          f'both object); {mutants} mutants on which both agree, {wrong} of '
          f'them wrong; {differ} differences')
    return differ > 0 or objected > 0


sys.exit(main())
