/** Codes of the Itanium C++ ABI, sections 5.1.3 (operators), 5.1.5 (builtin types) and 5.1.10 (abbreviations). */
export const builtinTypes: ReadonlyMap<string, string> = new Map([
  ['v', 'void'],
  ['w', 'wchar_t'],
  ['b', 'bool'],
  ['c', 'char'],
  ['a', 'signed char'],
  ['h', 'unsigned char'],
  ['s', 'short'],
  ['t', 'unsigned short'],
  ['i', 'int'],
  ['j', 'unsigned int'],
  ['l', 'long'],
  ['m', 'unsigned long'],
  ['x', 'long long'],
  ['y', 'unsigned long long'],
  ['n', '__int128'],
  ['o', 'unsigned __int128'],
  ['f', 'float'],
  ['d', 'double'],
  ['e', 'long double'],
  ['g', '__float128'],
  ['z', '...'],
  ['Dh', '_Float16'],
  ['Di', 'char32_t'],
  ['Ds', 'char16_t'],
  ['Du', 'char8_t'],
  ['Da', 'auto'],
  ['Dc', 'decltype(auto)'],
  ['Dd', 'decimal64'],
  ['De', 'decimal128'],
  ['Df', 'decimal32'],
  ['Dn', 'decltype(nullptr)']
])

export const operatorNames: ReadonlyMap<string, string> = new Map([
  ['nw', 'new'],
  ['na', 'new[]'],
  ['dl', 'delete'],
  ['da', 'delete[]'],
  ['aw', 'co_await'],
  ['ps', '+'],
  ['ng', '-'],
  ['ad', '&'],
  ['de', '*'],
  ['co', '~'],
  ['pl', '+'],
  ['mi', '-'],
  ['ml', '*'],
  ['dv', '/'],
  ['rm', '%'],
  ['an', '&'],
  ['or', '|'],
  ['eo', '^'],
  ['aS', '='],
  ['pL', '+='],
  ['mI', '-='],
  ['mL', '*='],
  ['dV', '/='],
  ['rM', '%='],
  ['aN', '&='],
  ['oR', '|='],
  ['eO', '^='],
  ['lS', '<<='],
  ['rS', '>>='],
  ['ss', '<=>'],
  ['cm', ','],
  ['pm', '->*'],
  ['ds', '.*'],
  ['qu', '?'],
  ['ls', '<<'],
  ['rs', '>>'],
  ['eq', '=='],
  ['ne', '!='],
  ['lt', '<'],
  ['gt', '>'],
  ['le', '<='],
  ['ge', '>='],
  ['nt', '!'],
  ['aa', '&&'],
  ['oo', '||'],
  ['pp', '++'],
  ['mm', '--'],
  ['cl', '()'],
  ['ix', '[]'],
  ['pt', '->']
])

/** Operators of one operand, written before it. */
export const prefixOperators: ReadonlySet<string> = new Set('ps ng ad de co nt pp mm'.split(' '))

export const binaryOperators: ReadonlySet<string> = new Set(
  'pl mi ml dv rm an or eo aS pL mI mL dV rM aN oR eO lS rS ls rs eq ne lt gt le ge ss aa oo cm pm ds'.split(
    ' '
  )
)

/** Operators on a type, and on an expression, that are words. */
export const typeOperators: ReadonlyMap<string, string> = new Map([
  ['st', 'sizeof'],
  ['at', 'alignof'],
  ['ti', 'typeid']
])

export const wordOperators: ReadonlyMap<string, string> = new Map([
  ['sz', 'sizeof'],
  ['az', 'alignof'],
  ['te', 'typeid'],
  ['nx', 'noexcept']
])

export const namedCasts: ReadonlyMap<string, string> = new Map([
  ['dc', 'dynamic_cast'],
  ['sc', 'static_cast'],
  ['cc', 'const_cast'],
  ['rc', 'reinterpret_cast']
])

export const integerSuffixes: ReadonlyMap<string, string> = new Map([
  ['int', ''],
  ['unsigned int', 'u'],
  ['long', 'l'],
  ['unsigned long', 'ul'],
  ['long long', 'll'],
  ['unsigned long long', 'ull']
])

/** <special-name>, section 5.1.4: what stands before the type or the name. */
export const specialNames: ReadonlyMap<string, string> = new Map([
  ['TV', 'vtable for '],
  ['TT', 'VTT for '],
  ['TI', 'typeinfo for '],
  ['TS', 'typeinfo name for '],
  ['TH', 'TLS init function for '],
  ['TW', 'TLS wrapper function for '],
  ['GV', 'guard variable for ']
])

/** <substitution> with a letter: in full, as c++filt writes them. */
export const standardClasses: ReadonlyMap<string, string> = new Map([
  ['a', 'std::allocator'],
  ['b', 'std::basic_string'],
  ['s', 'std::basic_string<char, std::char_traits<char>, std::allocator<char> >'],
  ['i', 'std::basic_istream<char, std::char_traits<char> >'],
  ['o', 'std::basic_ostream<char, std::char_traits<char> >'],
  ['d', 'std::basic_iostream<char, std::char_traits<char> >']
])
