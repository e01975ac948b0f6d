/* What `tape.py` and `ghosts.py` do around every op and every autograd node, for the cases that are common.
 *
 * The list that is written is the same; each function here says which Python method it stands for, and hands what is
 * uncommon to one of them. Nothing is kept alive: ghosts hold weak references. Errors are raised to the caller, the
 * mode of events/operations.c or `EngineTape`, which reports them; the list is cut back to where it was before.
 *
 * The parts are one piece of code for the compiler, in this order: nothing is called through a table or a library. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>
#include <string.h>
#include <structmember.h>

#include "tape_c/names.h"
#include "tape_c/ghosts.h"
#include "tape_c/lists.h"
#include "tape_c/begin.h"
#include "tape_c/nodes.h"
#include "tape_c/saved.h"
#include "tape_c/end.h"
#include "tape_c/values.h"
#include "tape_c/methods.h"
#include "tape_c/node_end.h"

static PyObject *configure(PyObject *module, PyObject *args) {
    PyObject *new[12], *types;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!O!O!OO!OOOO!OOO!", &PyType_Type, &new[0], &PyType_Type, &new[1], &PyType_Type,
                          &new[2], &PyDict_Type, &new[3], &new[4], &PyDict_Type, &new[5], &new[6], &new[7], &new[8],
                          &PyDict_Type, &new[9], &new[10], &new[11], &PyTuple_Type, &types))
        return NULL;
    if (!PyType_IsSubtype((PyTypeObject *)new[0], &ghost_type) || PyTuple_GET_SIZE(types) > MOST_SIMPLE) {
        PyErr_SetString(PyExc_TypeError, "the ghosts must be of this module, and the simple types few");
        return NULL;
    }
    PyObject **kept[] = {(PyObject **)&ghost_class, (PyObject **)&tensor_type, (PyObject **)&parameter_type, &users,
                         &place_of, &read_only, &clock_ns, &is_packing, &is_custom, &kinds, &ghost_kind, &disabled};
    for (int place = 0; place < 12; place++) Py_XSETREF(*kept[place], new_ref(new[place]));
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(types); place++)
        simple[place] = (PyTypeObject *)new_ref(PyTuple_GET_ITEM(types, place));
    simple_count = PyTuple_GET_SIZE(types);
    Py_RETURN_NONE;
}

static PyObject *configure_looks(PyObject *module, PyObject *args) {
    PyObject **kept[] = {&strided, &dispatch_modes, &transform, &aminmax, &is_grad_enabled, &set_grad_enabled};
    PyObject *new[6];
    (void)module;
    if (!PyArg_UnpackTuple(args, "configure_looks", 6, 6, &new[0], &new[1], &new[2], &new[3], &new[4], &new[5]))
        return NULL;
    for (int place = 0; place < 6; place++) Py_XSETREF(*kept[place], new_ref(new[place]));
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"configure_looks", configure_looks, METH_VARARGS, "Take what values are looked at with."},
    {"configure", configure, METH_VARARGS, "Take what is looked at here from its owners."},
    {"count_saved", count_saved, METH_VARARGS, "Bytes that nodes keep and that were not met before."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_tape", "What is noted around ops and autograd nodes.", -1, functions,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__tape(void) {
    struct { PyObject **name; const char *text; } names[] = {
        {&s_version, "_version"}, {&s_dtype, "dtype"}, {&s_device, "device"}, {&s_requires_grad, "requires_grad"},
        {&s_storage, "untyped_storage"}, {&s_cdata, "_cdata"}, {&s_shape, "shape"}, {&s_is_contiguous, "is_contiguous"},
        {&s_stride, "stride"}, {&s_describe, "_describe_unusual"}, {&s_nbytes, "nbytes"},
        {&s_is_parameter, "is_parameter"}, {&s_grad_fn, "grad_fn"}, {&s_output_nr, "output_nr"},
        {&s_begin_any, "_begin_any"}, {&s_end_any, "_end_any"}, {&s_look_again, "look_again"},
        {&s_sequence, "_sequence_nr"}, {&s_next, "next_functions"}, {&s_variable, "variable"},
        {&s_kept_by, "_kept_by"}, {&s_grad, "grad"}, {&s_enter, "__enter__"}, {&s_exit, "__exit__"},
        {&s_lasti, "f_lasti"}, {&s_end, "end"}, {&s_off, "off"}, {&s_fault, "report"}, {&s_see, "_see"},
        {&s_see_sum, "_see_sum"}, {&s_is_float, "is_floating_point"},
        {&s_is_cpu, "is_cpu"}, {&s_layout, "layout"}, {&s_item, "item"}, {&s_numel, "numel"}, {&s_is_view, "_is_view"},
    };
    for (size_t place = 0; place < sizeof names / sizeof *names; place++)
        if ((*names[place].name = PyUnicode_InternFromString(names[place].text)) == NULL) return NULL;
    for (long number = 0; number < 16; number++)
        if ((small[number] = PyLong_FromLong(number)) == NULL) return NULL;
    if ((no_look = PyLong_FromLong(-1)) == NULL) return NULL;
    struct { const char *name; PyTypeObject *type; } types[] = {
        {"Ghost", &ghost_type}, {"GhostNode", &node_type}, {"Tape", &tape_type}, {"NodeEnd", &hook_type},
    };
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddIntConstant(module, "VERSION", VERSION) < 0) return NULL;
    for (size_t place = 0; place < sizeof types / sizeof *types; place++) {
        if (PyType_Ready(types[place].type) < 0) return NULL;
        if (PyModule_AddObject(module, types[place].name, new_ref((PyObject *)types[place].type)) < 0) return NULL;
    }
    return module;
}
