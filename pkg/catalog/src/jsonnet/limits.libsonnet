// Replaces the functions of `std` that make large values from small arguments.
local maxCharacters = 100000000;
local maxElements = 10000000;

local checked(name, size, limit, unit, result) =
  if size > limit then error 'std.%s makes more than %d %s' % [name, limit, unit] else result;

function(std) std {
  repeat(what, count)::
    local limit = if std.isString(what) then [maxCharacters, 'characters'] else [maxElements, 'elements'];
    local isSized = std.isNumber(count) && (std.isString(what) || std.isArray(what));
    local size = if isSized then std.length(what) * count else 0;
    checked('repeat', size, limit[0], limit[1], std.repeat(what, count)),
  makeArray(sz, func)::
    checked('makeArray', if std.isNumber(sz) then sz else 0, maxElements, 'elements', std.makeArray(sz, func)),
  range(from, to)::
    local size = if std.isNumber(from) && std.isNumber(to) then to - from else 0;
    checked('range', size, maxElements, 'elements', std.range(from, to)),
}
