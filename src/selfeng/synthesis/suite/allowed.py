"""Lists of the harmless names that a suite may use from modules. Anything else is refused, however
it is reached or spelled.

Making or comparing values is harmless. Loading, evaluating or running something, starting a process
or a connection, or changing how tests or Python run is not. An audit hook in the sandbox covers
what a list can't (`src/sandbox_worker/audit.py`).
"""

import sys
import sysconfig
import types
from functools import cache
from pathlib import Path

_WHOLE_MODULES = """
    __future__ abc argparse array ast base64 binascii bisect bz2 calendar cmath collections colorsys configparser contextlib
    contextvars copy csv dataclasses datetime decimal difflib email enum errno filecmp fnmatch fractions functools getpass glob
    graphlib gzip hashlib heapq hmac html io ipaddress itertools json keyword locale lzma math mimetypes numbers optparse pathlib
    plistlib pprint queue quopri random re reprlib sched secrets shlex shutil sqlite3 stat statistics string stringprep struct tarfile
    tempfile textwrap time token tokenize tomllib traceback unicodedata uuid warnings wave weakref xml zipfile zlib zoneinfo
"""  # noqa: E501
_WHOLE = frozenset(_WHOLE_MODULES.split())
"""Modules of the standard library that may be used, except their private names and the modules that
they import.
"""

_NUMPY = """
    True_ False_ abs absolute acos acosh add all allclose amax amin angle any append apply_along_axis apply_over_axes arange arccos
    arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argpartition argsort argwhere around array array2string array_equal
    array_equiv array_repr array_split array_str asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray asin asinh
    asmatrix astype atan atan2 atanh atleast_1d atleast_2d atleast_3d average bartlett base_repr binary_repr bincount bitwise_and
    bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman block bool bool_
    broadcast broadcast_arrays broadcast_shapes broadcast_to busday_count busday_offset byte bytes_ c_ can_cast cbrt cdouble ceil
    character choose clip clongdouble column_stack common_type complex128 complex256 complex64 complexfloating compress concat
    concatenate conj conjugate convolve copy copysign copyto corrcoef correlate cos cosh count_nonzero cov cross csingle cumprod
    cumsum cumulative_prod cumulative_sum datetime64 datetime_as_string datetime_data deg2rad degrees delete diag diag_indices
    diag_indices_from diagflat diagonal diff digitize divide divmod dot double dsplit dstack dtype e ediff1d einsum empty empty_like
    equal errstate euler_gamma exp exp2 expand_dims expm1 extract eye fabs fill_diagonal finfo fix flatiter flatnonzero flexible flip
    fliplr flipud float128 float16 float32 float64 float_power floating floor floor_divide fmax fmin fmod format_float_positional
    format_float_scientific frexp frombuffer fromfunction fromiter fromstring full full_like gcd generic geomspace gradient greater
    greater_equal half hamming hanning heaviside histogram histogram2d histogram_bin_edges histogramdd hsplit hstack hypot i0 identity
    iinfo imag in1d index_exp indices inexact inf inner insert int16 int32 int64 int8 int_ intc integer interp intersect1d intp invert
    is_busday isclose iscomplex iscomplexobj isdtype isfinite isfortran isin isinf isnan isnat isneginf isposinf isreal isrealobj
    isscalar issubdtype iterable ix_ kaiser kron lcm ldexp left_shift less less_equal lexsort linspace little_endian loadtxt
    genfromtxt log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logspace long longdouble
    longlong mask_indices matmul matrix matrix_transpose matvec max maximum may_share_memory mean median meshgrid mgrid min
    min_scalar_type minimum mod modf moveaxis multiply nan nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean
    nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ndarray ndenumerate ndim ndindex negative newaxis
    nextafter nonzero not_equal number object_ ogrid ones ones_like outer packbits pad partition percentile permute_dims pi piecewise
    place poly poly1d polyadd polyder polydiv polyfit polyint polymul polysub polyval positive pow power printoptions prod product
    promote_types ptp put put_along_axis putmask quantile r_ rad2deg radians ravel ravel_multi_index real real_if_close recarray
    reciprocal remainder repeat require reshape resize result_type right_shift rint roll rollaxis roots rot90 round row_stack s_ save
    savetxt savez savez_compressed searchsorted select set_printoptions setdiff1d setxor1d shape shares_memory short sign signbit
    signedinteger sin sinc single sinh size sort sort_complex spacing split sqrt square squeeze stack std str_ subtract sum swapaxes
    take take_along_axis tan tanh tensordot tile timedelta64 trace transpose trapezoid trapz tri tril tril_indices tril_indices_from
    trim_zeros triu triu_indices triu_indices_from true_divide trunc ubyte ufunc uint uint16 uint32 uint64 uint8 uintc uintp ulong
    ulonglong union1d unique unique_all unique_counts unique_inverse unique_values unpackbits unravel_index unsignedinteger unstack
    unwrap ushort vander var vdot vecdot vecmat vectorize void vsplit vstack where zeros zeros_like exceptions fft linalg ma
    polynomial random testing typing
"""  # noqa: E501
_PANDAS = """
    BooleanDtype Categorical CategoricalDtype CategoricalIndex DataFrame DateOffset DatetimeIndex DatetimeTZDtype Float32Dtype
    Float64Dtype Grouper Index IndexSlice Int16Dtype Int32Dtype Int64Dtype Int8Dtype Interval IntervalDtype IntervalIndex MultiIndex
    NA NaT NamedAgg Period PeriodDtype PeriodIndex RangeIndex Series SparseDtype StringDtype Timedelta TimedeltaIndex Timestamp
    UInt16Dtype UInt32Dtype UInt64Dtype UInt8Dtype api array bdate_range concat crosstab cut date_range errors factorize from_dummies
    get_dummies infer_freq interval_range isna isnull json_normalize lreshape melt merge merge_asof merge_ordered notna notnull
    offsets option_context period_range pivot pivot_table qcut read_csv read_excel read_fwf read_html read_json read_table read_xml
    testing timedelta_range to_datetime to_numeric to_timedelta tseries unique value_counts wide_to_long
"""  # noqa: E501
_ARITHMETIC = """
    abs add and_ concat contains countOf eq floordiv ge getitem gt iadd index indexOf inv invert is_ is_not isub itemgetter le length_hint
    lshift lt matmul mod mul ne neg not_ or_ pos pow rshift setitem delitem sub truediv truth xor
"""  # noqa: E501
_TYPING = """
    Annotated Any AnyStr AsyncGenerator AsyncIterable AsyncIterator Awaitable BinaryIO ByteString Callable ChainMap ClassVar
    Collection Concatenate Container ContextManager Coroutine Counter DefaultDict Deque Dict Final FrozenSet Generator Generic
    Hashable IO ItemsView Iterable Iterator KeysView List Literal LiteralString Mapping MappingView Match MutableMapping
    MutableSequence MutableSet NamedTuple Never NewType NoReturn NotRequired Optional OrderedDict ParamSpec Pattern Protocol Required
    Reversible Self Sequence Set Sized SupportsAbs SupportsFloat SupportsIndex SupportsInt SupportsRound Text TextIO Tuple Type
    TypeAlias TypeGuard TypeVar TypedDict Union Unpack ValuesView assert_never assert_type cast final get_args get_origin
    no_type_check overload override runtime_checkable TYPE_CHECKING
"""  # noqa: E501

LISTED: dict[str, frozenset[str]] = {
    module: frozenset(names.split())
    for module, names in {
        "pytest": """raises approx fixture param warns deprecated_call fail mark RaisesGroup RaisesExc ExceptionInfo FixtureRequest
            CaptureFixture TempPathFactory LogCaptureFixture WarningsRecorder PytestWarning""",  # noqa: E501
        "pytest.mark": "parametrize usefixtures filterwarnings",
        "unittest": "TestCase IsolatedAsyncioTestCase main",
        "sys": "maxsize float_info int_info hash_info byteorder maxunicode version_info getsizeof "
        "getrecursionlimit",
        "os": """path sep linesep pathsep curdir name devnull fspath PathLike getcwd
            listdir scandir walk stat access R_OK mkdir makedirs rmdir remove unlink rename""",
        "os.path": """abspath basename commonpath commonprefix dirname exists expanduser getmtime getsize isabs isdir isfile islink join
            lexists normcase normpath realpath relpath samefile sep split splitext""",  # noqa: E501
        "asyncio": """run gather sleep wait wait_for create_task TaskGroup Task Future Queue PriorityQueue LifoQueue QueueEmpty
            QueueFull Lock Event Condition Semaphore BoundedSemaphore Barrier timeout TimeoutError CancelledError InvalidStateError
            Runner as_completed ensure_future shield to_thread current_task all_tasks iscoroutine iscoroutinefunction isfuture
            get_event_loop get_running_loop new_event_loop set_event_loop FIRST_COMPLETED ALL_COMPLETED FIRST_EXCEPTION""",  # noqa: E501
        "concurrent": "futures",
        "concurrent.futures": """ThreadPoolExecutor Future as_completed wait TimeoutError CancelledError FIRST_COMPLETED ALL_COMPLETED
            FIRST_EXCEPTION""",  # noqa: E501
        "threading": "Thread Lock RLock Event Condition Semaphore BoundedSemaphore Barrier Timer "
        "local current_thread active_count",
        "logging": """getLogger Logger Handler StreamHandler NullHandler Formatter LogRecord LoggerAdapter Filter DEBUG INFO WARNING ERROR
            CRITICAL NOTSET debug info warning error critical exception log disable getLevelName""",  # noqa: E501
        "operator": _ARITHMETIC,
        "typing": _TYPING,
        "types": """SimpleNamespace MappingProxyType NoneType EllipsisType NotImplementedType GeneratorType AsyncGeneratorType CoroutineType
            BuiltinFunctionType BuiltinMethodType LambdaType UnionType GenericAlias TracebackType""",  # noqa: E501
        "platform": "system machine python_version python_version_tuple python_implementation",
        "http": "HTTPStatus HTTPMethod cookies",
        "urllib": "parse error",
        "codecs": "encode decode lookup BOM_UTF8 BOM_UTF16 BOM_UTF16_LE BOM_UTF16_BE BOM_UTF32",
        "numpy": _NUMPY,
        "numpy.exceptions": "AxisError ComplexWarning DTypePromotionError RankWarning "
        "TooHardError VisibleDeprecationWarning",
        "numpy.fft": "fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft "
        "ihfft fftfreq rfftfreq fftshift ifftshift",
        "numpy.linalg": """matrix_power solve tensorsolve tensorinv inv cholesky eigvals eigvalsh pinv slogdet det svd svdvals eig eigh
            lstsq norm qr cond matrix_rank LinAlgError multi_dot trace diagonal cross outer tensordot matmul matrix_transpose matrix_norm
            vector_norm vecdot""",  # noqa: E501
        "numpy.ma": """MaskedArray all allclose allequal any arange array average compressed concatenate count filled getmask
            getmaskarray is_masked make_mask mask_or masked masked_array masked_equal masked_greater masked_inside masked_invalid
            masked_less masked_outside masked_values masked_where max mean median min nomask ones std sum var zeros""",  # noqa: E501
        "numpy.polynomial": "Polynomial Chebyshev Legendre Laguerre Hermite HermiteE",
        "numpy.random": """default_rng RandomState Generator SeedSequence PCG64 MT19937 Philox SFC64 seed beta binomial bytes
            chisquare choice dirichlet exponential gamma geometric gumbel laplace logistic lognormal multinomial multivariate_normal
            normal pareto permutation poisson power rand randint randn random random_sample rayleigh sample shuffle standard_normal
            triangular uniform vonmises weibull zipf""",  # noqa: E501
        "numpy.testing": """assert_equal assert_almost_equal assert_approx_equal assert_array_equal assert_array_less
            assert_string_equal assert_array_almost_equal assert_raises assert_raises_regex assert_ assert_array_almost_equal_nulp
            assert_array_max_ulp assert_warns assert_no_warnings assert_allclose suppress_warnings""",  # noqa: E501
        "numpy.typing": "ArrayLike DTypeLike NDArray",
        "pandas": _PANDAS,
        "pandas.api": "types",
        "pandas.api.types": """is_any_real_numeric_dtype is_bool is_bool_dtype is_complex is_complex_dtype is_datetime64_any_dtype
            is_datetime64_dtype is_datetime64_ns_dtype is_dict_like is_extension_array_dtype is_float is_float_dtype is_hashable
            is_int64_dtype is_integer is_integer_dtype is_iterator is_list_like is_number is_numeric_dtype is_object_dtype is_scalar
            is_signed_integer_dtype is_string_dtype is_timedelta64_dtype is_unsigned_integer_dtype pandas_dtype CategoricalDtype
            DatetimeTZDtype IntervalDtype PeriodDtype infer_dtype""",  # noqa: E501
        "pandas.errors": """DtypeWarning DuplicateLabelError EmptyDataError IntCastingNaNError InvalidIndexError MergeError
            OutOfBoundsDatetime OutOfBoundsTimedelta ParserError ParserWarning PerformanceWarning SettingWithCopyWarning
            UndefinedVariableError
            UnsupportedFunctionCall""",  # noqa: E501
        "pandas.offsets": """BDay BMonthEnd BMonthBegin BusinessDay Day Hour Minute MonthBegin MonthEnd QuarterBegin QuarterEnd Second Week
            YearBegin YearEnd""",  # noqa: E501
        "pandas.testing": "assert_frame_equal assert_series_equal assert_index_equal "
        "assert_extension_array_equal",
        "pandas.tseries": "offsets",
        "pandas.tseries.offsets": """BDay BMonthEnd BMonthBegin BusinessDay DateOffset Day Hour Minute MonthBegin MonthEnd QuarterBegin
            QuarterEnd Second Week YearBegin YearEnd""",  # noqa: E501
        "matplotlib": "pyplot use get_backend figure axes image colors dates ticker",
        "matplotlib.axes": "Axes",
        "matplotlib.colors": "to_hex to_rgb to_rgba to_rgba_array same_color is_color_like "
        "Normalize LogNorm",
        "matplotlib.dates": "date2num num2date",
        "matplotlib.figure": "Figure",
        "matplotlib.image": "imread",
        "matplotlib.pyplot": "close figure subplots gcf gca imread get_fignums fignum_exists plot "
        "bar hist scatter savefig Figure Axes",
        "matplotlib.ticker": "PercentFormatter MaxNLocator FixedLocator FuncFormatter",
        "openpyxl": "Workbook load_workbook styles utils worksheet workbook",
        "openpyxl.styles": "Alignment Font PatternFill",
        "openpyxl.utils": "get_column_letter column_index_from_string",
        "openpyxl.workbook": "Workbook",
        "openpyxl.worksheet": "worksheet",
        "openpyxl.worksheet.worksheet": "Worksheet",
        "PIL": "Image ImageChops ImageDraw ImageFont ImageStat UnidentifiedImageError",
        "PIL.Image": "Exif Image Resampling Transpose fromarray frombytes merge new open",
        "PIL.ImageChops": "difference",
        "PIL.ImageDraw": "Draw",
        "PIL.ImageFont": "load_default",
        "PIL.ImageStat": "Stat",
        "docx": "Document",
        "fastparquet": "ParquetFile write",
        "icalendar": "Alarm Calendar Event Todo vText",
        "lxml": "etree html",
        "lxml.etree": "Element ElementTree SubElement XMLSyntaxError fromstring tostring",
        "lxml.html": "fromstring tostring",
        "pptx": "Presentation",
        "pypdf": "PdfReader PdfWriter",
        "python_calamine": "CalamineWorkbook load_workbook",
        "xlrd": "open_workbook xldate",
        "xlrd.xldate": "xldate_as_datetime xldate_as_tuple",
        "dateutil": "parser relativedelta rrule tz easter",
        "dateutil.easter": "easter",
        "dateutil.parser": "parse isoparse ParserError parserinfo",
        "dateutil.relativedelta": "relativedelta MO TU WE TH FR SA SU",
        "dateutil.rrule": """rrule rruleset rrulestr YEARLY MONTHLY WEEKLY DAILY HOURLY MINUTELY SECONDLY MO TU WE TH FR SA SU weekday""",  # noqa: E501
        "dateutil.tz": "UTC gettz tzutc tzoffset tzlocal resolve_imaginary datetime_exists "
        "datetime_ambiguous",
    }.items()
}
"""Of these modules, only the names listed here may be used."""

FRAMES = frozenset(
    name
    for kind in (
        types.FrameType,
        types.TracebackType,
        types.CodeType,
        types.GeneratorType,
        types.CoroutineType,
        types.AsyncGeneratorType,
    )
    for name in dir(kind)
    if name.partition("_")[0] in ("f", "tb", "co", "gi", "cr", "ag")
)
"""Attributes of frames, tracebacks and code, and those that lead to them."""
EVALUATING = frozenset({"eval", "query"})
"""Methods of pandas objects that run text as code."""

_NAMESAKES = frozenset({"datetime.time"})
"""Names that look like modules but are something else in their module."""
_LIBRARY = Path(sysconfig.get_path("stdlib"))


def unlisted(name: str) -> str:
    """The part of a dotted name, which begins with a module, that no suite may use; "" if it may
    use all of it.
    """
    first, *parts = name.split(".")
    if first not in LISTED and first not in _WHOLE:
        return first
    module = first
    for part in parts:
        inner = f"{module}.{part}"
        if is_dunder(part):
            return ""  # has its own rules
        if module in LISTED:
            if part not in LISTED[module]:
                return inner
        elif not _is_module(module):
            return ""  # what a class or function holds
        elif part.startswith("_") or (
            _is_foreign(part) and not _is_module(inner) and part != module.rpartition(".")[2]
        ):
            return inner if inner not in _NAMESAKES else ""
        module = inner
    return ""


def _is_foreign(part: str) -> bool:
    """Whether it is the name of a module; a module that another one imports is not part of that
    one's interface.
    """
    return part in sys.stdlib_module_names or part in LISTED


@cache
def _is_module(name: str) -> bool:
    """Whether it is a module of the standard library, judged by files alone."""
    path = _LIBRARY / name.replace(".", "/")
    return name in sys.stdlib_module_names or path.is_dir() or path.with_suffix(".py").is_file()


def is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
